import { fromId } from '@belfry/domain/id'
import type { DueTask } from '@belfry/queue'
import { locateTask } from '../statements/batched-statements.ts'
import { admit } from './admit.ts'
import { targetOf } from './incoming-task.ts'
import type { IntakeContext } from './intake-context.ts'
import type { IncomingTask } from './task-buffer.ts'

/**
 * Admits the tasks of a job. When a job lacks the workspace or the origin of a task, PostgreSQL is asked for it. Never waits
 * for the time of a task or for a slot, so the tasks of one workspace do not delay those of others in the queue. Rejects,
 * with no task taken, when the signal is aborted first.
 */
export async function takeJob(ctx: IntakeContext, tasks: readonly DueTask[], signal: AbortSignal): Promise<void> {
  const incoming = await Promise.all(tasks.map(task => complete(ctx, task, signal)))
  signal.throwIfAborted()
  admit(
    ctx,
    incoming.filter(task => task !== null),
  )
}

async function complete(ctx: IntakeContext, task: DueTask, signal: AbortSignal): Promise<IncomingTask | null> {
  const id = fromId('task', task.id)
  if (id === null) {
    ctx.log.warn({ job: task.id }, 'job.unknown')
    return null
  }
  const { dueAt, origin } = task
  const workspace = task.workspace === undefined ? null : fromId('ws', task.workspace)
  if (workspace !== null && origin !== undefined) {
    const target = targetOf(origin)
    return { id, workspace, dueAt, origin: target.origin, host: target.host }
  }
  const found = await locateTask(ctx, id, signal)
  return found && { id, workspace: found.workspaceId, dueAt, ...targetOf(found.origin) }
}
