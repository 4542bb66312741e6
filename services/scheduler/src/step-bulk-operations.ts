import { stepDeadLetterOperation } from '@belfry/db/dead-letters/dead-letter-operations'
import { advanceQueuesOf } from '@belfry/db/queues/advance-queues'
import { stepTaskOperation } from '@belfry/db/tasks/task-operations'
import { toId } from '@belfry/domain/id'
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

/**
 * Works on the replays and discards of many dead letters, round-robin between operations. Each step commits its progress
 * together with its effects.
 * @returns How many dead letters were settled.
 */
export async function settleDeadLetters(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  while (!signal.aborted) {
    const settled = await stepDeadLetterOperation(ctx.pool, batchSize)
    if (!settled) break
    if (__FAILPOINTS__) await failpoint('scheduler.dead_letters_settled')
    total += settled.deadLetters.length
    const tasks = settled.deadLetters.map(id => toId('task', id))
    await ctx.deadLetters?.remove(tasks).catch(err => ctx.log.warn({ err }, 'dead_letter.still_shown'))
  }
  return total
}
