import { advanceQueuesOf, stepTaskOperation } from '@belfry/db'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'

const batchSize = 500

/**
 * Works on the cancels and stops of many tasks, round-robin between operations. Each step commits its progress together with
 * its effects. An operation that waits for prefetched tasks continues with the next call.
 * @returns How many tasks were ended.
 */
export async function endTasks(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  while (!signal.aborted) {
    const step = await stepTaskOperation(ctx.pool, batchSize)
    if (!step) break
    if (step.ended > 0) await advanceQueuesOf(ctx.pool, step.taskIds)
    if (__FAILPOINTS__) await failpoint('scheduler.tasks_ended')
    total += step.ended
    if (step.isWaiting) break
  }
  return total
}
