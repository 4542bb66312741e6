import { type DueRow, stepPromotionBack } from '@belfry/db'
import { originOfUrl, toId } from '@belfry/domain'
import { type DispatchQueue, type DueTask, needsJob } from '@belfry/queue'
import type { Context } from '../context.ts'

/**
 * Adds jobs for the tasks that are due soon, without delaying the response. Nothing depends on the jobs: dispatchers also
 * find due tasks in PostgreSQL.
 */
export function enqueue(ctx: Context, tasks: readonly DueTask[], now: number): void {
  const { queue } = ctx
  if (queue === null) return
  const soon = tasks.filter(task => needsJob(task.dueAt, now))
  if (soon.length > 0) runInBackground(ctx, addJobs(ctx, queue, soon, now))
}

/** Adds jobs for the rows that are due soon. */
export function enqueueRows(ctx: Context, rows: readonly DueRow[], now: Date): void {
  const tasks = rows.map(({ id, dueAt }) => ({ id: toId('task', id), dueAt: dueAt.getTime() }))
  enqueue(ctx, tasks, now.getTime())
}

/** Returns a task as the queue takes it, with its workspace and origin, which saves the dispatcher a query. */
export function toDueTask(task: { id: string; workspaceId: string; url: string }, dueAt: Date): DueTask {
  return {
    id: toId('task', task.id),
    dueAt: dueAt.getTime(),
    workspace: toId('ws', task.workspaceId),
    origin: originOfUrl(task.url),
  }
}

/** Removes tasks from the operators' copy of the dead-letter list, without delaying the response. */
export function hideDeadLetters(ctx: Context, taskIds: string[]): void {
  if (taskIds.length === 0 || ctx.deadLetters === null) return
  const removal = ctx.deadLetters.remove(taskIds)
  runInBackground(
    ctx,
    removal.catch(err => ctx.log.warn({ err }, 'dead_letter.still_shown')),
  )
}

async function addJobs(ctx: Context, queue: DispatchQueue, tasks: DueTask[], now: number): Promise<void> {
  try {
    await queue.schedule(tasks, now)
  } catch (error) {
    ctx.log.warn({ err: error }, 'queue.away')
    ctx.metrics.queueAway()
    await stepPromotionBack(ctx.pool).catch(err => ctx.log.warn({ err }, 'connection.error'))
  }
}

// `closeContext` waits for such work.
function runInBackground({ background }: Context, work: Promise<void>): void {
  const settled = work.finally(() => background.delete(settled))
  background.add(settled)
}
