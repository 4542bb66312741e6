import type { KeyObject } from 'node:crypto'
import { isTransientDatabaseError, leaseMarginMs, retryDatabase, type SecretValues } from '@belfry/db'
import type { Logger } from '@belfry/runtime'
import type { WorkspaceCache } from './workspace-cache.ts'

/** The secrets that an attempt needs. */
export type AttemptSecrets = {
  /** The keys that sign; null when the workspace does not exist any more. */
  signingKeys: readonly KeyObject[] | null
  /** The names of the secrets that the request refers to. */
  names: readonly string[]
  /** The values of the workspace's secrets, or why one cannot be decrypted; empty when the request refers to none. */
  values: Readonly<SecretValues>
}

/** The secrets of workspaces, of at most five seconds ago. */
export type SecretsContext = {
  log: Logger
  signingKeys: WorkspaceCache<KeyObject[]>
  secrets: WorkspaceCache<SecretValues>
}

const none: SecretValues = new Map()

/** Reads the secrets of an attempt. While the database is away it retries, for as long as the claim is certain to hold. */
export async function readAttemptSecrets(
  ctx: SecretsContext,
  workspaceId: string,
  names: readonly string[],
): Promise<AttemptSecrets> {
  const giveUpAt = performance.now() + leaseMarginMs / 2
  async function read(): Promise<AttemptSecrets> {
    const signingKeys = await ctx.signingKeys.get(workspaceId)
    return { signingKeys: signingKeys ?? null, names, values: await readValues(ctx, workspaceId, names) }
  }
  return retryDatabase(read, {
    onWait: error => ctx.log.warn({ err: error }, 'secrets.waiting_for_database'),
    isRetryable: error => isTransientDatabaseError(error) && performance.now() <= giveUpAt,
  })
}

// A secret may have been stored since the others were cached, and without it the attempt fails.
async function readValues(ctx: SecretsContext, workspaceId: string, names: readonly string[]): Promise<SecretValues> {
  if (names.length === 0) return none
  const values = (await ctx.secrets.get(workspaceId)) ?? none
  if (names.every(name => typeof values.get(name) === 'string')) return values
  return (await ctx.secrets.reload(workspaceId)) ?? none
}
