import type { CronJob, CronJobStatus, ListCronJobsQuery } from '@belfry/contract/cron-job'
import { operations } from '@belfry/contract/operations'
import { type CronJobFields, columnOf, readableScheduleOf, scheduleOf } from '@belfry/db/cron-jobs/cron-job'
import type { CronJob as StoredCronJob } from '@belfry/db/generated/client'
import type { RunStatus } from '@belfry/db/generated/enums'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { selectFields } from '@belfry/db/tasks/stored-request'
import { hostOfUrl } from '@belfry/db/tasks/task-row'
import { nextRuns } from '@belfry/domain/cron/cron-schedule'
import { describeCron } from '@belfry/domain/cron/describe-cron'
import type { Occurrence } from '@belfry/domain/cron/next-occurrence'
import { toId } from '@belfry/domain/id'
import { presentBody, presentCallbacks, presentLastRun, presentRetry } from '@belfry/present/task-form'
import type { LastRunRow } from '@belfry/present/task-row'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { isExactly, isOnPage, readBoundedPage, type Scan, where } from '../http/bounded-page.ts'
import { inspectSchedule } from './inspect-schedule.ts'

export const getCronJob = endpoint(operations.getCronJob, readCronJob)

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
export function scanCronJobs(workspaceId: string, { status, name, label, host }: CronJobFilter): Scan {
  const along = where()
  const streams = `unnest(ARRAY[${along.add(workspaceId)}::uuid]) AS workspace (id)`
  along.and('j.workspace_id = workspace.id')
  const rest = where(along)
  if (status) rest.and(`(${status.map(one => `(${hasStatus[one]})`).join(' OR ')})`)
  if (name) rest.and('starts_with(j.name, ?)', name)
  if (label) rest.and('j.labels && ?::text[]', label)
  if (host) rest.and(`${hostOfUrl('j.url')} = ANY (?::text[])`, host)
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
    const schedule = scheduleOf({ cron: body.cron, timezone: body.timezone, startsAt: null, endsAt: null })
    const runs = nextRuns(schedule, body.from?.getTime() ?? ctx.clock.now(), body.count)
    return { description: describeCron(schedule.cron), ...presentRunTimes(runs) }
  },
})

const shownRuns = 5

type OfCronJob = { caller: Allowed<'cron_job.read' | 'cron_job.write'>; params: { cronjob: string } }

export async function readCronJob(ctx: Context, { caller, params }: OfCronJob): Promise<CronJob | null> {
  const row = await findCronJob(ctx.pool, caller.workspaceId, params.cronjob)
  return row ? presentCronJob(row, ctx.clock.now()) : null
}

export function presentCronJob(row: CronJobRow, now: number): CronJob {
  const schedule = readableScheduleOf(row)
  const status = statusOf(row, now)
  const times = presentRunTimes(status === 'active' && schedule ? nextRuns(schedule, now, shownRuns) : [])
  return {
    id: toId('cron', row.id),
    workspace_id: toId('ws', row.workspaceId),
    key: row.key ?? null,
    name: row.name,
    cron: row.cron,
    timezone: row.timezone,
    description: schedule ? describeCron(schedule.cron) : row.cron,
    url: row.url,
    method: row.method,
    headers: JSON.parse(row.headers),
    ...presentBody(row),
    retry: presentRetry(row),
    timeout_ms: row.timeoutMs,
    queue: row.queue ?? null,
    connection: row.connection ?? null,
    ...presentCallbacks(row.callbacks),
    overlap: row.overlap,
    catch_up: row.catchUp,
    starts_at: row.startsAt?.toISOString() ?? null,
    ends_at: row.endsAt?.toISOString() ?? null,
    max_age_ms: row.maxAgeMs ?? null,
    labels: [...((row.writtenLabels?.length ? row.writtenLabels : row.labels) ?? [])],
    status,
    failing_since: row.failingSince?.toISOString() ?? null,
    paused_reason: row.pausedReason === null ? null : 'failing',
    next_run_at: times.next_runs[0] ?? null,
    ...times,
    last_run: presentLastRun(row),
    created_by: row.createdBy,
    updated_by: row.updatedBy,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

function statusOf({ pausedAt, endsAt }: CronJobRow, now: number): CronJobStatus {
  if (endsAt !== null && endsAt.getTime() <= now) return 'ended'
  return pausedAt === null ? 'active' : 'paused'
}

function presentRunTimes(occurrences: readonly Occurrence[]): Pick<CronJob, 'next_runs' | 'notes'> {
  return {
    next_runs: occurrences.map(({ atMs }) => new Date(atMs).toISOString()),
    notes: occurrences.flatMap(({ atMs, localMs, change }) =>
      change === null ? [] : [{ at: new Date(atMs).toISOString(), local: localText(localMs), code: change }],
    ),
  }
}

// The time that a clock on the wall shows, without an offset.
function localText(localMs: number): string {
  return new Date(localMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)
}

export type CronJobRow = CronJobFields &
  LastRunRow &
  Pick<StoredCronJob, 'id' | 'workspaceId' | 'pausedAt' | 'pausedReason' | 'failingSince'> &
  Pick<StoredCronJob, 'createdBy' | 'updatedBy' | 'createdAt' | 'updatedAt'>

/** Selects cron jobs. The caller appends conditions: `j` is the cron job. */
const selectCronJobs = `
  SELECT j.id, j.workspace_id AS "workspaceId", ${selectFields('j', columnOf)}, j.paused_at AS "pausedAt",
         j.paused_reason AS "pausedReason", j.failing_since AS "failingSince", j.created_by AS "createdBy", j.updated_by AS "updatedBy", j.created_at AS "createdAt",
         j.updated_at AS "updatedAt", last.id AS "lastRunId", last.status AS "lastRunStatus",
         last.response_status AS "lastRunResponseStatus", last.error_code AS "lastRunErrorCode",
         last.finished_at AS "lastRunFinishedAt"
  FROM cron_jobs j
  LEFT JOIN LATERAL (
    SELECT u.id, u.status, u.response_status, u.error_code, u.finished_at
    FROM tasks t CROSS JOIN LATERAL (
      SELECT * FROM runs
      WHERE runs.task_id = t.id AND runs.id >= uuid_v7_floor(t.created_at)
      ORDER BY runs.id DESC LIMIT 1
    ) u
    WHERE ${isExactly('t.cron_job_id', 'j.id')} AND t.attempts > 0
    ORDER BY t.cron_job_id, t.id DESC LIMIT 1
  ) last ON true`

export async function findCronJob(db: Db, workspaceId: string, id: string): Promise<CronJobRow | undefined> {
  const text = `${selectCronJobs} WHERE j.id = $1 AND j.workspace_id = $2`
  const { rows } = await db.query<CronJobRow>({ name: 'find_cron_job', text, values: [id, workspaceId] })
  return rows[0]
}
