import { dueTaskChannel, outboxChannel, parseDueNotice } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import { admit } from './admit.ts'
import type { TaskInHand } from './hand.ts'
import type { UpcomingReader } from './read-upcoming.ts'
import { takeTasks } from './take-tasks.ts'
import { targetOf } from './target-of.ts'

/**
 * Takes up PostgreSQL's notifications: of tasks of this dispatcher's share that are due before they would be read, and of
 * new messages. Those that arrive together are taken up together.
 */
export function createNoticeTaker(ctx: Context, upcoming: UpcomingReader): (channel: string, payload: string) => void {
  let due: TaskInHand[] = []

  function takeAll(): void {
    const tasks = due
    due = []
    if (!ctx.stop.aborted) admit(ctx, tasks)
  }

  return (channel, payload) => {
    if (channel === outboxChannel) return ctx.outbox.wake()
    const notice = channel === dueTaskChannel ? parseDueNotice(payload) : null
    if (notice === null || !ctx.share.has(notice.id) || !upcoming.isTooLate(notice.dueAt)) return
    const { id, dueAt, workspaceId: workspace, origin } = notice
    if (origin === null) {
      const onError = (error: unknown) => ctx.log.warn({ err: error }, 'notice.not_taken') // late work is searched for
      takeTasks(ctx, [{ id: toId('task', id), dueAt }], ctx.stop).catch(onError)
    } else if (due.push({ id, workspace, dueAt, ...targetOf(origin) }) === 1) {
      setImmediate(takeAll)
    }
  }
}
