import type { Context } from '../context.ts'
import { lineUp, startAttempts } from './admit.ts'
import { longestAheadMs, undoClaims } from './ahead.ts'
import { giveBack } from './give-back.ts'

/**
 * Undoes claims ahead of tasks whose turn has not come after all: their target has become slow, or rests.
 * @returns How many tasks there were.
 */
export async function returnDelayed(ctx: Context): Promise<number> {
  const delayed = ctx.lines.takeDelayed(longestAheadMs)
  if (delayed.length === 0) return 0
  const waiting = await undoClaims(ctx, delayed)
  if (ctx.stop.aborted) {
    await giveBack(ctx, waiting)
  } else {
    for (const task of waiting) lineUp(ctx, task)
    startAttempts(ctx)
  }
  return delayed.length
}
