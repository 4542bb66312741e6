import type { Context } from '../context.ts'
import { queueUnlessStopped } from './admit.ts'
import { maxPrefetchMs, undoPrefetched } from './prefetch-claims.ts'

/**
 * Undoes the prefetched claims of tasks that did not get a slot after all: their target has become slow, or its circuit
 * breaker has opened.
 * @returns How many tasks there were.
 */
export async function undoDelayedClaims(ctx: Context): Promise<number> {
  const delayed = ctx.hostQueues.takeDelayed(maxPrefetchMs)
  if (delayed.length === 0) return 0
  await queueUnlessStopped(ctx, await undoPrefetched(ctx, delayed))
  return delayed.length
}
