import type { KeyObject } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isTransientDatabaseError, leaseMarginMs } from '@belfry/db'
import type { Context } from '../context.ts'

/** What an attempt needs that nobody may see. */
export type AttemptSecrets = {
  /** The keys that sign; null when the workspace does not exist any more. */
  signingKeys: readonly KeyObject[] | null
  /** The names of the secrets that the request refers to. */
  names: readonly string[]
  /** The values of the workspace's secrets, if it refers to any. */
  values: ReadonlyMap<string, string>
}

const none: ReadonlyMap<string, string> = new Map()

/** The secrets of an attempt: at once if they are remembered. */
export function attemptSecrets(
  ctx: Context,
  workspaceId: string,
  names: readonly string[],
): AttemptSecrets | Promise<AttemptSecrets> {
  const signingKeys = ctx.signingKeysOf(workspaceId)
  if (names.length > 0 || signingKeys instanceof Promise) return readAttemptSecrets(ctx, workspaceId, names)
  return { signingKeys: signingKeys ?? null, names, values: none }
}

/** Reads them: the keys, and the values if there are names. While the database is away it is asked again for as long as the attempt is surely ours. */
async function readAttemptSecrets(
  ctx: Context,
  workspaceId: string,
  names: readonly string[],
): Promise<AttemptSecrets> {
  const giveUpAt = performance.now() + leaseMarginMs / 2
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      const signingKeys = await ctx.signingKeysOf(workspaceId)
      const values = names.length === 0 ? none : await ctx.secretsOf(workspaceId)
      return { signingKeys: signingKeys ?? null, names, values: values ?? none }
    } catch (error) {
      if (!isTransientDatabaseError(error) || performance.now() > giveUpAt) throw error
      ctx.log.warn({ err: error }, 'secrets.waiting_for_database')
      await sleep(pauseMs)
    }
  }
}
