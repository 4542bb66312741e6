import type { Context } from '../context.ts'
import { lineUp, startAttempts } from './admit.ts'
import { giveBack } from './give-back.ts'
import { maxPrefetchMs, undoPrefetched } from './prefetch.ts'

/**
 * Undoes prefetched claims of tasks that did not get a slot after all: their target has become slow, or its circuit breaker
 * is open.
 * @returns How many tasks there were.
 */
export async function returnDelayed(ctx: Context): Promise<number> {
  const delayed = ctx.lines.takeDelayed(maxPrefetchMs)
  if (delayed.length === 0) return 0
  const waiting = await undoPrefetched(ctx, delayed)
  if (ctx.stop.aborted) {
    await giveBack(ctx, waiting)
  } else {
    for (const task of waiting) lineUp(ctx, task)
    startAttempts(ctx)
  }
  return delayed.length
}
