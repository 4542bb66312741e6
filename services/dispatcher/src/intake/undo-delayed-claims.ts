import { queueWhenDue, startAttempts } from './admit.ts'
import type { IntakeContext } from './intake-context.ts'
import { maxPrefetchMs, undoPrefetched } from './prefetch-claims.ts'
import { requeue } from './requeue.ts'

/**
 * Undoes the prefetched claims of tasks that did not get a slot after all: their target has become slow, or its circuit
 * breaker has opened.
 * @returns How many tasks there were.
 */
export async function undoDelayedClaims(ctx: IntakeContext): Promise<number> {
  const delayed = ctx.hostQueues.takeDelayed(maxPrefetchMs)
  if (delayed.length === 0) return 0
  const waiting = await undoPrefetched(ctx, delayed)
  if (ctx.stop.aborted) {
    await requeue(ctx, waiting)
  } else {
    for (const task of waiting) queueWhenDue(ctx, task)
    startAttempts(ctx)
  }
  return delayed.length
}
