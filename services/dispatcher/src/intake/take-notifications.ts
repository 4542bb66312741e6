import { parseDueNotice } from '@belfry/db/postgres/notices'
import { toId } from '@belfry/domain/id'
import type { Context } from '../context.ts'
import { admit } from './admit.ts'
import { targetOf } from './incoming-task.ts'
import type { UpcomingReader } from './read-upcoming.ts'
import { takeJob } from './take-job.ts'
import type { IncomingTask } from './task-buffer.ts'

/**
 * Returns a handler for PostgreSQL's notifications of due tasks. It admits the tasks of this dispatcher's share that are due
 * before the next reading. Those that arrive together are admitted together.
 */
export function createNotificationHandler(ctx: Context, upcoming: UpcomingReader): (payload: string) => void {
  let due: IncomingTask[] = []

  function admitAll(): void {
    const tasks = due
    due = []
    if (!ctx.stop.aborted) admit(ctx, tasks)
  }

  return payload => {
    const notice = parseDueNotice(payload)
    if (notice === null || !ctx.share.has(notice.id) || !upcoming.isTooLate(notice.dueAt)) return
    const { id, dueAt, workspaceId: workspace, origin, isQueued } = notice
    if (origin === null) {
      // The search for late work finds a task that is lost here.
      const onError = (error: unknown) => ctx.log.warn({ err: error }, 'notification.not_taken')
      takeJob(ctx, [{ id: toId('task', id), dueAt }], ctx.stop).catch(onError)
    } else if (due.push({ id, workspace, dueAt, isQueued, ...targetOf(origin) }) === 1) {
      setImmediate(admitAll)
    }
  }
}
