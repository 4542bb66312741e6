import { forgetIdempotencyKeys as forgetBatch } from '@belfry/db'
import type { Context } from './context.ts'

const batchSize = 1_000

/**
 * Deletes the answers that are kept under idempotency keys once they are a day old.
 * @returns How many were deleted.
 */
export async function forgetIdempotencyKeys(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  for (;;) {
    const deleted = await forgetBatch(ctx.pool, batchSize)
    total += deleted
    if (deleted < batchSize || signal.aborted) return total
  }
}
