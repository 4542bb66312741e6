import { forgetDeadLetterOperations, forgetIdempotencyKeys } from '@belfry/db'
import type { Context } from './context.ts'

const batchSize = 1_000

/**
 * Deletes what is only kept for a while: answers under idempotency keys for a day, ended operations for 30 days.
 * @returns How many were deleted.
 */
export async function forgetOldRequests(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  for (const forget of [forgetIdempotencyKeys, forgetDeadLetterOperations]) {
    let deleted = batchSize
    while (deleted === batchSize && !signal.aborted) {
      deleted = await forget(ctx.pool, batchSize)
      total += deleted
    }
  }
  return total
}
