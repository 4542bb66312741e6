import { type Upcoming, upcoming } from '@belfry/contract/overview'
import { maxCounted, measureDueWork } from '@belfry/db/tasks/startable-tasks'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { countDueTasks, findDueTasks } from './due-tasks.ts'
import { countForeseen, findForeseen } from './foresee-occurrences.ts'
import type { Span } from './span.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const maxNext = 10
// Occurrences become tasks six minutes ahead. 2,000 cron jobs that fire every minute fit in a bucket.
const maxInFiveMinutes = 10_001

export const getUpcoming = endpoint({
  right: 'task.read',
  summary: 'Get the upcoming tasks of a workspace',
  answer: { status: 200, body: upcoming },
  async handle(ctx, { caller: { workspaceId } }) {
    const fromMs = ctx.clock.now()
    const hour: Span = { fromMs, bucketMs: 5 * minuteMs, count: 12 }
    const hoursAfter: Span = { fromMs: fromMs + hourMs, bucketMs: hourMs, count: 23 }
    const [overdue, inHour, inHoursAfter, tasks, [foreseenInHour = [], foreseenAfter = []], occurrences] =
      await Promise.all([
        measureDueWork(ctx.pool, workspaceId),
        countDueTasks(ctx.pool, workspaceId, hour, maxInFiveMinutes),
        countDueTasks(ctx.pool, workspaceId, hoursAfter),
        findDueTasks(ctx.pool, workspaceId, fromMs, maxNext),
        countForeseen(ctx.pool, workspaceId, [hour, hoursAfter]),
        findForeseen(ctx.pool, workspaceId, { fromMs, toMs: fromMs + 24 * hourMs }, maxNext),
      ])
    const firstHour = presentCounts(hour, inHour.counts, foreseenInHour)
    const dueInHour = firstHour.reduce((sum, { count }) => sum + count, 0)
    const next = [...tasks, ...occurrences].sort((a, b) => a.atMs - b.atMs).slice(0, maxNext)
    return ok({
      from: new Date(fromMs).toISOString(),
      overdue: overdue.due,
      blocked: overdue.due - overdue.startable,
      hour: firstHour,
      day: [
        { at: new Date(fromMs).toISOString(), count: dueInHour },
        ...presentCounts(hoursAfter, inHoursAfter.counts, foreseenAfter),
      ],
      next: next.map(({ atMs, taskId, cronJobId, name }) => ({
        at: new Date(atMs).toISOString(),
        task_id: taskId,
        cronjob_id: cronJobId,
        name,
      })),
      is_capped: overdue.due === maxCounted || inHour.isCapped || inHoursAfter.isCapped,
    } satisfies Upcoming)
  },
})

function presentCounts(span: Span, tasks: readonly number[], foreseen: readonly number[]): Upcoming['hour'] {
  return tasks.map((count, index) => ({
    at: new Date(span.fromMs + index * span.bucketMs).toISOString(),
    count: count + (foreseen[index] ?? 0),
  }))
}
