import type { KeyObject } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isTransientDatabaseError, leaseMarginMs, type SecretValues } from '@belfry/db'
import type { Context } from '../context.ts'

/** What an attempt needs that nobody may see. */
export type AttemptSecrets = {
  /** The keys that sign; null when the workspace does not exist any more. */
  signingKeys: readonly KeyObject[] | null
  /** The names of the secrets that the request refers to. */
  names: readonly string[]
  /** The values of the workspace's secrets, if it refers to any, or why one cannot be decrypted. */
  values: Readonly<SecretValues>
}

const none: SecretValues = new Map()

/** Reads the secrets of an attempt. While the database is away it tries again, for as long as the attempt is surely ours. */
export async function readAttemptSecrets(
  ctx: Context,
  workspaceId: string,
  names: readonly string[],
): Promise<AttemptSecrets> {
  const giveUpAt = performance.now() + leaseMarginMs / 2
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      const signingKeys = await ctx.signingKeys.get(workspaceId)
      return { signingKeys: signingKeys ?? null, names, values: await readValues(ctx, workspaceId, names) }
    } catch (error) {
      if (!isTransientDatabaseError(error) || performance.now() > giveUpAt) throw error
      ctx.log.warn({ err: error }, 'secrets.waiting_for_database')
      await sleep(pauseMs)
    }
  }
}

// A secret may have been stored since the others were cached, and without it the attempt fails.
async function readValues(ctx: Context, workspaceId: string, names: readonly string[]): Promise<SecretValues> {
  if (names.length === 0) return none
  const values = (await ctx.secrets.get(workspaceId)) ?? none
  if (names.every(name => typeof values.get(name) === 'string')) return values
  return (await ctx.secrets.reload(workspaceId)) ?? none
}
