import { setImmediate as nextIteration } from 'node:timers/promises'
import { type CronJobFields, scheduleOf } from '@belfry/db/cron-jobs/cron-job'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { countOccurrences, nextRuns } from '@belfry/domain/cron/cron-schedule'
import { toId } from '@belfry/domain/id'
import type { NextUp } from './due-tasks.ts'
import type { Span } from './span.ts'

type Rule = Pick<CronJobFields, 'cron' | 'timezone' | 'startsAt' | 'endsAt'> & { nextRunAt: Date }

const ruleColumns = `cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", next_run_at AS "nextRunAt"`
// Occurrences before next_run_at are tasks already.
const isAhead = 'workspace_id = $1 AND paused_at IS NULL AND unreadable_since IS NULL AND next_run_at < $2'
const rulesPerIteration = 500

/** Counts, for each bucket of each span, the occurrences of a workspace's cron jobs that are not tasks yet. */
export async function countForeseen(db: Db, workspaceId: string, spans: readonly Span[]): Promise<number[][]> {
  const toMs = Math.max(...spans.map(({ fromMs, bucketMs, count }) => fromMs + bucketMs * count))
  const text = `SELECT ${ruleColumns}, count(*)::int AS jobs FROM cron_jobs WHERE ${isAhead} GROUP BY 1, 2, 3, 4, 5`
  const { rows } = await db.query<Rule & { jobs: number }>(text, [workspaceId, new Date(toMs)])
  const totals = spans.map(({ count }) => Array.from({ length: count }, () => 0))
  for (const [index, rule] of rows.entries()) {
    if (index % rulesPerIteration === rulesPerIteration - 1) await nextIteration()
    for (const [i, span] of spans.entries()) addTo(totals[i] ?? [], rule, rule.jobs, span)
  }
  return totals
}

function addTo(totals: number[], rule: Rule, jobs: number, { fromMs, bucketMs }: Span): void {
  const schedule = scheduleOf(rule)
  for (const [index, total] of totals.entries()) {
    const beginMs = fromMs + index * bucketMs
    const firstMs = Math.max(beginMs, rule.nextRunAt.getTime())
    totals[index] = total + jobs * countOccurrences(schedule, firstMs, beginMs + bucketMs)
  }
}

/** Finds the first occurrences of a workspace's cron jobs that are not tasks yet, between two times. */
export async function findForeseen(
  db: Db,
  workspaceId: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  max: number,
): Promise<NextUp[]> {
  const text = `SELECT id, name, ${ruleColumns} FROM cron_jobs WHERE ${isAhead} ORDER BY next_run_at, id LIMIT $3`
  const { rows } = await db.query<Rule & { id: string; name: string }>(text, [workspaceId, new Date(toMs), max])
  return rows
    .flatMap(job => {
      const after = Math.max(fromMs, job.nextRunAt.getTime()) - 1
      const runs = nextRuns(scheduleOf(job), after, max).filter(({ atMs }) => atMs < toMs)
      return runs.map(({ atMs }) => ({ atMs, taskId: null, cronJobId: toId('cron', job.id), name: job.name }))
    })
    .sort((a, b) => a.atMs - b.atMs)
    .slice(0, max)
}
