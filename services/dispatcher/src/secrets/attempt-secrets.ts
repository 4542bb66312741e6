import type { KeyObject } from 'node:crypto'
import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { retryDatabase } from '@belfry/db/postgres/retry-database'
import type { OpenSecrets, WorkspaceSecrets } from '@belfry/db/secrets/secrets'
import { leaseMarginMs } from '@belfry/db/tasks/claim-tasks'
import type { ClaimedTask } from '@belfry/db/tasks/claimed-row'
import type { Context } from '../context.ts'

export type AttemptSecrets = {
  /** The keys that sign; null when the workspace does not exist any more. */
  signingKeys: readonly KeyObject[] | null
  /** The current key of `Upstash-Signature`; null unless the task is a message of the QStash interface. */
  messageKey: KeyObject | null
  /** The names of the secrets that the request refers to. */
  names: readonly string[]
  /** The workspace's secrets, or why one cannot be decrypted; empty when the request does not refer to any. */
  secrets: Readonly<OpenSecrets>
  /** Whether the log keeps the response, if the request has secrets. */
  keepsResponse: boolean
}

const none: WorkspaceSecrets = { byName: new Map(), keepsResponses: true }

/** Returns the secrets of an attempt that only needs cached signing keys of its workspace; null for any other. */
export function peekAttemptSecrets(
  ctx: Context,
  { workspaceId, subscriptionId, qstash }: Pick<ClaimedTask, 'workspaceId' | 'subscriptionId' | 'qstash'>,
  names: readonly string[],
): AttemptSecrets | null {
  if (names.length > 0 || subscriptionId !== null || qstash != null) return null
  const signingKeys = ctx.signingKeys.peek(workspaceId)
  return signingKeys ? { signingKeys, messageKey: null, names, secrets: none.byName, keepsResponse: true } : null
}

/** Reads the secrets of an attempt. While the database is away it retries, for as long as the claim is certain to hold. */
export async function readAttemptSecrets(
  ctx: Context,
  { workspaceId, subscriptionId, qstash }: Pick<ClaimedTask, 'workspaceId' | 'subscriptionId' | 'qstash'>,
  names: readonly string[],
): Promise<AttemptSecrets> {
  const giveUpAt = performance.now() + leaseMarginMs / 2
  async function read(): Promise<AttemptSecrets> {
    const signingKeys = await readSigningKeys(ctx, workspaceId, subscriptionId)
    const { byName, keepsResponses } = await readNamed(ctx, workspaceId, names)
    const messageKey = qstash != null ? ((await ctx.messageKeys.get(workspaceId)) ?? null) : null
    return { signingKeys, messageKey, names, secrets: byName, keepsResponse: keepsResponses }
  }
  return retryDatabase(read, {
    onWait: error => ctx.log.warn({ err: error }, 'secrets.waiting_for_database'),
    isRetryable: error => isTransientDatabaseError(error) && performance.now() <= giveUpAt,
  })
}

// The secrets of a subscription replace the secrets of its workspace; the workspace's asymmetric keys still sign.
async function readSigningKeys(ctx: Context, workspaceId: string, subscriptionId: string | null) {
  const keys = await ctx.signingKeys.get(workspaceId)
  const own = keys && subscriptionId !== null ? await ctx.subscriptionKeys.get(subscriptionId) : undefined
  return own && keys ? [...own, ...keys.filter(({ type }) => type === 'private')] : (keys ?? null)
}

// A secret may have been stored since the others were cached, and without it the attempt fails.
async function readNamed(ctx: Context, workspaceId: string, names: readonly string[]): Promise<WorkspaceSecrets> {
  if (names.length === 0) return none
  const secrets = (await ctx.secrets.get(workspaceId)) ?? none
  const isReadable = (name: string) => secrets.byName.has(name) && !(secrets.byName.get(name) instanceof Error)
  if (names.every(isReadable)) return secrets
  return (await ctx.secrets.reload(workspaceId)) ?? none
}
