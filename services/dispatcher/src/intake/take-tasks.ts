import { fromId } from '@belfry/domain'
import type { DueTask } from '@belfry/queue'
import { failpoint } from '@belfry/runtime'
import type { Context } from '../context.ts'
import { admit } from './admit.ts'
import { askDatabase } from './ask-database.ts'
import type { TaskInHand } from './hand.ts'
import { hostOf } from './host-of.ts'

/**
 * Takes the tasks of a job in hand, or leaves them to PostgreSQL; asks it first for what the job does not say. Never waits
 * for a task's instant or turn, so that the tasks of one workspace do not stand before another's in the queue. Rejects,
 * with nothing taken, when the signal is aborted first.
 */
export async function takeTasks(ctx: Context, tasks: readonly DueTask[], signal: AbortSignal): Promise<void> {
  await failpoint('dispatcher.job_taken')
  const found = tasks.map(task => {
    const id = fromId('task', task.id)
    if (id === null) ctx.log.warn({ job: task.id }, 'job.unknown')
    return id === null ? null : toTaskInHand(ctx, id, task, signal)
  })
  const located = await Promise.all(found)
  signal.throwIfAborted()
  admit(
    ctx,
    located.filter(task => task !== null),
  )
}

function toTaskInHand(
  ctx: Context,
  id: string,
  { dueAt, workspace: workspaceId, origin }: DueTask,
  signal: AbortSignal,
): TaskInHand | Promise<TaskInHand | null> {
  const workspace = workspaceId === undefined ? null : fromId('ws', workspaceId)
  if (workspace !== null && origin !== undefined) return { id, workspace, dueAt, origin, host: hostOf(origin) }
  return askDatabase(ctx, () => ctx.locate(id), signal).then(found => {
    return found && { id, workspace: found.workspaceId, dueAt, origin: found.origin, host: hostOf(found.origin) }
  })
}
