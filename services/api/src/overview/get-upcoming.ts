import { type Upcoming, upcoming } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { countInBuckets } from './count-in-buckets.ts'
import { countDueTasks, countOverdueTasks, findDueTasks } from './due-tasks.ts'
import { foreseeOccurrences } from './foresee-occurrences.ts'
import type { Span } from './span.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const mostNext = 10

export const getUpcoming = endpoint({
  right: 'task.read',
  summary: 'Get what a workspace is about to dispatch',
  answer: { status: 200, body: upcoming },
  async handle(ctx, { caller: { workspaceId } }) {
    const fromMs = ctx.clock.now()
    const hour: Span = { fromMs, bucketMs: 5 * minuteMs, count: 12 }
    const day: Span = { fromMs, bucketMs: hourMs, count: 24 }
    const [overdue, inHour, inDay, tasks, foreseen] = await Promise.all([
      countOverdueTasks(ctx.pool, workspaceId, fromMs),
      countDueTasks(ctx.pool, workspaceId, hour),
      countDueTasks(ctx.pool, workspaceId, day),
      findDueTasks(ctx.pool, workspaceId, fromMs, mostNext),
      foreseeOccurrences(ctx.pool, workspaceId, fromMs, fromMs + 24 * hourMs),
    ])
    const occurrences = foreseen.occurrences.map(({ atMs }) => atMs)
    const next = [...tasks, ...foreseen.occurrences].sort((a, b) => a.atMs - b.atMs).slice(0, mostNext)
    return ok({
      from: new Date(fromMs).toISOString(),
      overdue: overdue.count,
      hour: presentCounts(hour, inHour.counts, occurrences),
      day: presentCounts(day, inDay.counts, occurrences),
      next: next.map(({ atMs, taskId, cronJobId, name }) => ({
        at: new Date(atMs).toISOString(),
        task_id: taskId,
        cronjob_id: cronJobId,
        name,
      })),
      is_capped: overdue.isCapped || inHour.isCapped || inDay.isCapped || foreseen.isCapped,
    } satisfies Upcoming)
  },
})

function presentCounts(span: Span, tasks: readonly number[], occurrences: readonly number[]): Upcoming['hour'] {
  const more = countInBuckets(span, occurrences)
  return tasks.map((count, index) => ({
    at: new Date(span.fromMs + index * span.bucketMs).toISOString(),
    count: count + (more[index] ?? 0),
  }))
}
