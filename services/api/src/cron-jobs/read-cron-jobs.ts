import type { CronJob, CronJobStatus, ListCronJobsQuery } from '@belfry/contract/cron-job'
import { operations } from '@belfry/contract/operations'
import type { RunStatus } from '@belfry/db/generated/enums'
import { AppError } from '@belfry/domain/app-error'
import { nextRuns } from '@belfry/domain/cron/cron-schedule'
import { describeCron } from '@belfry/domain/cron/describe-cron'
import { parseCron } from '@belfry/domain/cron/parse-cron'
import { toId } from '@belfry/domain/id'
import { endpoint } from '../endpoint.ts'
import { isOnPage, readBoundedPage, type Scan } from '../http/bounded-page.ts'
import { where } from '../http/where.ts'
import { inspectSchedule } from './inspect-schedule.ts'
import { type CronJobRow, presentCronJob, presentRunTimes, readCronJob, selectCronJobs } from './present-cron-job.ts'

export const getCronJob = endpoint(operations.getCronJob, async (ctx, { caller, params }) =>
  readCronJob(ctx, caller, params.cronjob),
)

export const listCronJobs = endpoint(operations.listCronJobs, async (ctx, { caller, query }) => {
  const now = ctx.clock.now()
  const scan = scanCronJobs(caller.workspaceId, query)
  const list = `cronjobs:${caller.workspaceId}`
  return readBoundedPage<CronJobRow, CronJob>(ctx, query, scan, list, row => presentCronJob(row, now))
})

export type CronJobFilter = Omit<ListCronJobsQuery, 'limit' | 'cursor'>

const hasStatus: Record<CronJobStatus, string> = {
  active: 'j.paused_at IS NULL AND (j.ends_at IS NULL OR j.ends_at > now())',
  paused: 'j.paused_at IS NOT NULL AND (j.ends_at IS NULL OR j.ends_at > now())',
  ended: 'j.ends_at <= now()',
}

/** Reads the cron jobs of a workspace along its index, and applies the filter to each of them. */
export function scanCronJobs(workspaceId: string, { status, name, label }: CronJobFilter): Scan {
  const along = where()
  const streams = `unnest(ARRAY[${along.add(workspaceId)}::uuid]) AS workspace (id)`
  along.and('j.workspace_id = workspace.id')
  const rest = where(along)
  if (status) rest.and(`(${status.map(one => `(${hasStatus[one]})`).join(' OR ')})`)
  if (name) rest.and('starts_with(j.name, ?)', name)
  if (label) rest.and('j.labels && ?::text[]', label)
  return {
    streams,
    streamCount: 1,
    table: 'cron_jobs',
    alias: 'j',
    order: 'j.id DESC',
    along,
    rest,
    read: `${selectCronJobs} WHERE ${isOnPage('j.id')}`,
    payload: '(SELECT payload FROM cron_jobs WHERE id = candidate.id)',
  }
}

const maxOfEach = 24

type Row = { cronJobId: string; id: string; status: RunStatus; startedAt: Date; finishedAt: Date }

export const listRecentRuns = endpoint(operations.listRecentRuns, async (ctx, { caller, query }) => {
  const ids = [...new Set(query.cronjob_id)]
  const text = `
      SELECT job.id AS "cronJobId", u.id, u.status, u.started_at AS "startedAt", u.finished_at AS "finishedAt"
      FROM unnest($2::uuid[]) AS job (id) CROSS JOIN LATERAL (
        SELECT id, status, started_at, finished_at FROM runs
        WHERE workspace_id = $1 AND cron_job_id BETWEEN job.id AND job.id
        ORDER BY cron_job_id DESC, id DESC LIMIT ${maxOfEach}
      ) u ORDER BY u.id`
  const { rows } = await ctx.pool.query<Row>(text, [caller.workspaceId, ids])
  return {
    data: ids.map(id => ({
      cronjob_id: toId('cron', id),
      runs: rows
        .filter(({ cronJobId }) => cronJobId === id)
        .map(({ id, status, startedAt, finishedAt }) => ({
          id: toId('run', id),
          status,
          started_at: startedAt.toISOString(),
          duration_ms: finishedAt.getTime() - startedAt.getTime(),
        })),
    })),
  }
})

export const previewCronJob = endpoint(operations.previewCronJob, {
  inspect: (ctx, body) => inspectSchedule(ctx, body),
  async handle(ctx, { body }) {
    const parsed = parseCron(body.cron)
    if (!parsed.ok) throw new AppError('validation_failed', parsed.message)
    const schedule = { cron: parsed.cron, timezone: body.timezone, startsAt: null, endsAt: null }
    const runs = nextRuns(schedule, body.from?.getTime() ?? ctx.clock.now(), body.count)
    return { description: describeCron(parsed.cron), ...presentRunTimes(runs) }
  },
})
