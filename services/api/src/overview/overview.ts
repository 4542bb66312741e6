import { setImmediate as nextIteration } from 'node:timers/promises'
import { operations } from '@belfry/contract/operations'
import type { OverviewRange, Upcoming } from '@belfry/contract/overview'
import { type CronJobFields, readableScheduleOf } from '@belfry/db/cron-jobs/cron-job'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { countQueued } from '@belfry/db/queues/queues'
import { countRuns } from '@belfry/db/run-statistics/run-statistics'
import { maxCounted, measureDueWork } from '@belfry/db/tasks/startable-tasks'
import { waitsForTime } from '@belfry/db/tasks/task-row'
import { countOccurrences, nextRuns } from '@belfry/domain/cron/cron-schedule'
import { toId } from '@belfry/domain/id'
import { decide } from '@belfry/domain/permissions'
import { endpoint } from '../endpoint.ts'

const minuteMs = 60_000

const steps: Record<OverviewRange, { bucketMs: number; count: number }> = {
  '1h': { bucketMs: minuteMs, count: 60 },
  '24h': { bucketMs: 30 * minuteMs, count: 48 },
  '7d': { bucketMs: 180 * minuteMs, count: 56 },
  '30d': { bucketMs: 720 * minuteMs, count: 60 },
}

export const getOverview = endpoint(operations.getOverview, async (ctx, { caller, query }) => {
  const span = spanOf(query.range, ctx.clock.now())
  const { whole, buckets } = await countRuns(ctx.pool, caller.workspaceId, span)
  return {
    range: query.range,
    from: new Date(span.fromMs).toISOString(),
    to: new Date(span.fromMs + span.count * span.bucketMs).toISOString(),
    bucket_ms: span.bucketMs,
    runs: { total: whole.total, failed: whole.failed },
    lag: { p50_ms: whole.lagP50Ms, p99_ms: whole.lagP99Ms },
    buckets: buckets.map(({ total, failed, lagP50Ms, lagP99Ms }, index) => ({
      at: new Date(span.fromMs + index * span.bucketMs).toISOString(),
      total,
      failed,
      lag_p50_ms: lagP50Ms,
      lag_p99_ms: lagP99Ms,
    })),
  }
})

// Ends with the bucket of the current time, so a bucket has the same bounds in every response.
function spanOf(range: OverviewRange, now: number): Span {
  const { bucketMs, count } = steps[range]
  const end = (Math.floor(now / bucketMs) + 1) * bucketMs
  return { fromMs: end - count * bucketMs, bucketMs, count }
}

const hourMs = 60 * minuteMs
// Occurrences become tasks six minutes ahead. 2,000 cron jobs that fire every minute fit in a bucket.
const maxInFiveMinutes = 10_001

export const getUpcoming = endpoint(operations.getUpcoming, async (ctx, { caller: { workspaceId, actor }, query }) => {
  const { from, hours, limit } = query
  const fromMs = from?.getTime() ?? ctx.clock.now()
  const hour: Span = { fromMs, bucketMs: 5 * minuteMs, count: 12 }
  const hoursAfter: Span = { fromMs: fromMs + hourMs, bucketMs: hourMs, count: hours - 1 }
  const time = { fromMs, toMs: fromMs + hours * hourMs }
  const seesCronJobs = decide(actor, 'cron_job.read').allowed
  const [due, queued, inHour, inHoursAfter, tasks, [foreseenInHour = [], foreseenAfter = []], occurrences] =
    await Promise.all([
      measureDueWork(ctx.pool, workspaceId),
      countQueued(ctx.pool, workspaceId),
      countDueTasks(ctx.pool, workspaceId, hour, maxInFiveMinutes),
      countDueTasks(ctx.pool, workspaceId, hoursAfter),
      // A task that is due later than today is worth naming when nothing else is due.
      findDueTasks(ctx.pool, workspaceId, from ? time : { fromMs }, limit),
      seesCronJobs ? countForeseen(ctx.pool, workspaceId, [hour, hoursAfter]) : [],
      // From now on, the next runs of the cron jobs are in order. Later ones may be of any cron job.
      seesCronJobs ? findForeseen(ctx.pool, workspaceId, time, limit, from ? maxForeseenJobs : limit) : [],
    ])
  const overdue = Math.min(due.due + queued, maxCounted)
  const firstHour = presentCounts(hour, inHour.counts, foreseenInHour)
  const dueInHour = firstHour.reduce((sum, { count }) => sum + count, 0)
  const next = [...tasks, ...occurrences].sort(byTime).slice(0, limit)
  return {
    from: new Date(fromMs).toISOString(),
    overdue,
    blocked: overdue - due.startable,
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
    is_capped: overdue === maxCounted || inHour.isCapped || inHoursAfter.isCapped,
  }
})

function presentCounts(span: Span, tasks: readonly number[], foreseen: readonly number[]): Upcoming['hour'] {
  return tasks.map((count, index) => ({
    at: new Date(span.fromMs + index * span.bucketMs).toISOString(),
    count: count + (foreseen[index] ?? 0),
  }))
}

type Rule = Pick<CronJobFields, 'cron' | 'timezone' | 'startsAt' | 'endsAt'> & { nextRunAt: Date }

const ruleColumns = `cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", next_run_at AS "nextRunAt"`
// Occurrences before next_run_at are tasks already.
const isAhead = 'workspace_id = $1 AND paused_at IS NULL AND unreadable_since IS NULL AND next_run_at < $2'
const bucketsPerIteration = 16_000
const jobsPerIteration = 500
const maxForeseenJobs = 10_000

/** Counts, for each bucket of each span, the occurrences of a workspace's cron jobs that are not tasks yet. */
async function countForeseen(db: Db, workspaceId: string, spans: readonly Span[]): Promise<number[][]> {
  const toMs = Math.max(...spans.map(({ fromMs, bucketMs, count }) => fromMs + bucketMs * count))
  const text = `SELECT ${ruleColumns}, count(*)::int AS jobs FROM cron_jobs WHERE ${isAhead} GROUP BY 1, 2, 3, 4, 5`
  const { rows } = await db.query<Rule & { jobs: number }>(text, [workspaceId, new Date(toMs)])
  const totals = spans.map(({ count }) => Array.from({ length: count }, () => 0))
  const rulesPerIteration = Math.ceil(bucketsPerIteration / totals.flat().length)
  for (const [index, rule] of rows.entries()) {
    if (index % rulesPerIteration === rulesPerIteration - 1) await nextIteration()
    for (const [i, span] of spans.entries()) addTo(totals[i] ?? [], rule, rule.jobs, span)
  }
  return totals
}

function addTo(totals: number[], rule: Rule, jobs: number, { fromMs, bucketMs }: Span): void {
  const schedule = readableScheduleOf(rule)
  if (schedule === null) return
  for (const [index, total] of totals.entries()) {
    const beginMs = fromMs + index * bucketMs
    const firstMs = Math.max(beginMs, rule.nextRunAt.getTime())
    totals[index] = total + jobs * countOccurrences(schedule, firstMs, beginMs + bucketMs)
  }
}

/**
 * Finds the first `max` occurrences of a workspace's cron jobs that are not tasks yet, between two times.
 * @param maxJobs - How many cron jobs it reads, those that run first.
 */
async function findForeseen(
  db: Db,
  workspaceId: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  max: number,
  maxJobs: number,
): Promise<NextUp[]> {
  const text = `SELECT id, name, ${ruleColumns} FROM cron_jobs WHERE ${isAhead} ORDER BY next_run_at, id LIMIT $3`
  const { rows } = await db.query<Rule & { id: string; name: string }>(text, [workspaceId, new Date(toMs), maxJobs])
  let found: NextUp[] = []
  // Computes only runs that can be among the first `max` of all.
  let endMs = toMs
  for (const [index, { id, name, ...rule }] of rows.entries()) {
    if (index % jobsPerIteration === jobsPerIteration - 1) await nextIteration()
    const firstMs = Math.max(fromMs, rule.nextRunAt.getTime())
    const schedule = readableScheduleOf(rule)
    if (firstMs >= endMs || schedule === null) continue
    const endsAt = new Date(Math.min(endMs, rule.endsAt?.getTime() ?? endMs))
    const runs = nextRuns({ ...schedule, endsAt }, firstMs - 1, max)
    found.push(...runs.map(({ atMs }) => ({ atMs, taskId: null, cronJobId: toId('cron', id), name })))
    if (found.length <= max) continue
    found = found.sort(byTime).slice(0, max)
    endMs = found.at(-1)?.atMs ?? endMs
  }
  return found.sort(byTime)
}

function byTime(a: NextUp, b: NextUp): number {
  return a.atMs - b.atMs
}

/** A task that is due soon, or an occurrence of a cron job that is not a task yet. */
type NextUp = { atMs: number; taskId: string | null; cronJobId: string | null; name: string }

const maxInBucket = 2_000
const isWaiting = `t.workspace_id = $1 AND ${waitsForTime}`

/** Counts the waiting tasks that are due in each bucket, up to a maximum in each. */
async function countDueTasks(
  db: Db,
  workspaceId: string,
  { fromMs, bucketMs, count }: Span,
  max: number = maxInBucket,
): Promise<{ counts: number[]; isCapped: boolean }> {
  const text = `
    SELECT due.counted::int AS counted FROM generate_series(0, $4::int - 1) AS step (n)
    CROSS JOIN LATERAL (
      SELECT count(*) AS counted FROM (
        SELECT FROM tasks t WHERE ${isWaiting} AND t.due_at >= $2::timestamptz + step.n * $3::interval
          AND t.due_at < $2::timestamptz + (step.n + 1) * $3::interval LIMIT $5
      ) found
    ) due ORDER BY step.n`
  const values = [workspaceId, new Date(fromMs), `${bucketMs} milliseconds`, count, max]
  const { rows } = await db.query<{ counted: number }>(text, values)
  const counts = rows.map(({ counted }) => counted)
  return { counts, isCapped: counts.some(count => count === max) }
}

async function findDueTasks(
  db: Db,
  workspaceId: string,
  { fromMs, toMs }: { fromMs: number; toMs?: number },
  max: number,
): Promise<NextUp[]> {
  const text = `
    SELECT t.id, t.cron_job_id AS "cronJobId", t.due_at AS "dueAt", r.name
    FROM tasks t JOIN task_requests r ON r.task_id = t.id
    WHERE ${isWaiting} AND t.due_at >= $2 AND t.due_at < coalesce($4, 'infinity'::timestamptz)
    ORDER BY t.due_at, t.id LIMIT $3`
  type Row = { id: string; cronJobId: string | null; dueAt: Date; name: string }
  const values = [workspaceId, new Date(fromMs), max, toMs === undefined ? null : new Date(toMs)]
  const { rows } = await db.query<Row>(text, values)
  return rows.map(({ id, cronJobId, dueAt, name }) => ({
    atMs: dueAt.getTime(),
    taskId: toId('task', id),
    cronJobId: cronJobId === null ? null : toId('cron', cronJobId),
    name,
  }))
}

/** A period in equal buckets. */
type Span = { fromMs: number; bucketMs: number; count: number }
