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

/** Returns the secrets of an attempt: at once when they are in memory. */
export function attemptSecrets(
  ctx: Context,
  workspaceId: string,
  names: readonly string[],
): AttemptSecrets | Promise<AttemptSecrets> {
  const signingKeys = ctx.signingKeysOf(workspaceId)
  if (names.length > 0 || signingKeys instanceof Promise) return readAttemptSecrets(ctx, workspaceId, names)
  return { signingKeys: signingKeys ?? null, names, values: none }
}

// While the database is away it is asked again for as long as the attempt is surely ours.
async function readAttemptSecrets(
  ctx: Context,
  workspaceId: string,
  names: readonly string[],
): Promise<AttemptSecrets> {
  const giveUpAt = performance.now() + leaseMarginMs / 2
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      const signingKeys = await ctx.signingKeysOf(workspaceId)
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
  const values = (await ctx.secretsOf(workspaceId)) ?? none
  if (names.every(name => typeof values.get(name) === 'string')) return values
  return (await ctx.secretsOf.reload(workspaceId)) ?? none
}
