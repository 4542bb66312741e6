import { dueTasks } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from './context.ts'
import { takeTask } from './take-task.ts'

const batchSize = 50

/**
 * While the queue is unreachable, takes due tasks straight from PostgreSQL: slower and less punctual, but
 * they are delivered. Any number of dispatchers may do so at once; the claim decides.
 * @returns How many tasks were taken.
 */
export async function pollDueTasks(ctx: Context, signal: AbortSignal): Promise<number> {
  const isReachable = await ctx.queue.ping().then(
    () => true,
    () => false,
  )
  if (isReachable) return 0
  const due = await dueTasks(ctx.pool, batchSize)
  if (due.length > 0) ctx.log.warn({ tasks: due.length }, 'queue.away.polling')
  const taken = due.map(({ id, dueAt }) => takeTask(ctx, { id: toId('task', id), dueAt: dueAt.getTime() }, signal))
  await Promise.all(taken).catch(error => {
    if (!signal.aborted) throw error // what is not claimed when the process stops is left to others
  })
  return due.length
}
