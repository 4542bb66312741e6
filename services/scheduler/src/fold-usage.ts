import { foldUsageChanges } from '@belfry/db'
import type { Context } from './context.ts'

const batchSize = 10_000

/**
 * Brings the sums of storage and of the days up to date.
 * @returns How many notes were folded.
 */
export async function foldUsage(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  for (;;) {
    const folded = await foldUsageChanges(ctx.pool, batchSize)
    total += folded
    if (folded < batchSize || signal.aborted) return total
  }
}
