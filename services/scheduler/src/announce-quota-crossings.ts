import { announceQuotaCrossings as announce } from '@belfry/db'
import type { Context } from './context.ts'
import { tellOfQuota } from './tell-of-quota.ts'

const batchSize = 50

/**
 * Tells owners and integrations of the quotas that have been used up so far, each once. What is told stands in the outbox
 * in the transaction that marks it as told.
 * @returns How many crossings were taken.
 */
export async function announceQuotaCrossings(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  for (;;) {
    const taken = await announce(ctx.pool, batchSize, async (tx, crossings) => {
      for (const crossing of crossings) await tellOfQuota(tx, crossing, ctx.publicUrl)
    })
    total += taken
    if (taken < batchSize || signal.aborted) return total
  }
}
