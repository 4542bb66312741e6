import { expireLeases } from '@belfry/db'
import { toId } from '@belfry/domain'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'

const batchSize = 500

/**
 * Ends the attempts of dispatchers that are gone: see `expireLeases`. Their tasks go back to the queue or, when nothing
 * is left to try, to the dead letters.
 * @returns How many attempts were lost.
 */
export async function rescueLostAttempts(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  for (;;) {
    const lost = await expireLeases(ctx.pool, batchSize)
    total += lost.length
    ctx.metrics.leasesExpired(lost.length)
    if (lost.length > 0) await failpoint('scheduler.expired')
    for (const { taskId, attempts, state } of lost) {
      ctx.log.warn({ task: toId('task', taskId), attempt: attempts, state }, 'attempt.worker_lost')
    }
    const again = lost.filter(({ state }) => state === 'retrying')
    await ctx.queue.schedule(
      again.map(task => ({ id: toId('task', task.taskId), dueAt: task.dueAt.getTime() })),
      Date.now(),
    )
    for (const task of lost.filter(({ state }) => state === 'dead')) {
      const error = 'The dispatcher was lost before it could record the outcome.'
      const ids = { task: toId('task', task.taskId), workspace: toId('ws', task.workspaceId) }
      await ctx.deadLetters.add({ ...ids, attempts: task.attempts, error })
    }
    if (lost.length < batchSize || signal.aborted) return total
  }
}
