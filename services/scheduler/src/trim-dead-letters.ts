import { mostDeadLetters } from '@belfry/queue'
import type { QueueContext } from './context.ts'

/**
 * Keeps the operators' copy of the dead-letter list to its newest letters.
 * @returns How many letters were taken out.
 */
export async function trimDeadLetters(ctx: QueueContext, signal: AbortSignal, most = mostDeadLetters): Promise<number> {
  let total = 0
  while (!signal.aborted) {
    const trimmed = await ctx.deadLetters.trim(most)
    if (trimmed === 0) break
    total += trimmed
  }
  return total
}
