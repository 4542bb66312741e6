import { retryDatabase } from '@belfry/db/postgres/retry-database'
import { fromId } from '@belfry/domain/id'
import type { DueTask } from '@belfry/queue'
import type { Context } from '../context.ts'
import { admit } from './admit.ts'
import { incomingTask } from './incoming-task.ts'
import type { IncomingTask } from './task-buffer.ts'

/**
 * Admits the tasks of a job. When a job lacks the workspace or the origin of a task, PostgreSQL is asked for it. Never
 * waits for the time of a task or for a slot, so the tasks of one workspace do not delay other workspaces in the queue.
 * Rejects without taking a task when the signal is aborted first.
 */
export async function takeJob(ctx: Context, tasks: readonly DueTask[], signal: AbortSignal): Promise<void> {
  const incoming: IncomingTask[] = []
  const located: Array<Promise<void>> = []
  for (const { id: name, dueAt, origin, workspace: workspaceName } of tasks) {
    const id = fromId('task', name)
    const workspace = workspaceName === undefined ? null : fromId('ws', workspaceName)
    if (id === null) ctx.log.warn({ job: name }, 'job.unknown')
    else if (workspace !== null && origin !== undefined) incoming.push(incomingTask(id, workspace, dueAt, origin))
    else
      located.push(
        locate(ctx, id, signal).then(found => {
          if (found) incoming.push(incomingTask(id, found.workspaceId, dueAt, found.origin))
        }),
      )
  }
  if (located.length > 0) await Promise.all(located)
  signal.throwIfAborted()
  admit(ctx, incoming)
}

// Waits while the database is away.
function locate({ batches, log }: Context, id: string, signal: AbortSignal) {
  const onWait = (error: unknown) => log.warn({ err: error }, 'locate.waiting_for_database')
  return retryDatabase(() => batches.locate(id), { onWait, signal })
}
