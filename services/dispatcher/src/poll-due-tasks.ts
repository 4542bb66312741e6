import { dueTasks } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from './context.ts'
import { takeTask } from './take-task.ts'

const batchSize = 50
const slowQueueMs = 3_000

/**
 * Takes due tasks straight from PostgreSQL: at once while the queue is unreachable, and what is some seconds late while
 * it is only slow. Any number of dispatchers may do so at once, beside the jobs of the same tasks; the claim decides.
 * @returns How many tasks were taken.
 */
export async function pollDueTasks(ctx: Context, signal: AbortSignal): Promise<number> {
  const isReachable = await ctx.queue.ping().then(
    () => true,
    () => false,
  )
  const due = await dueTasks(ctx.pool, isReachable ? slowQueueMs : 0, batchSize)
  if (due.length > 0) ctx.log.warn({ tasks: due.length, isReachable }, 'queue.late')
  const taken = due.map(({ id, dueAt }) => takeTask(ctx, { id: toId('task', id), dueAt: dueAt.getTime() }, signal))
  await Promise.all(taken).catch(error => {
    if (!signal.aborted) throw error // what is not claimed when the process stops is left to others
  })
  return due.length
}
