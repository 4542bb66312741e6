import type { CronJob, CronJobStatus } from '@belfry/contract'
import { scheduleOf } from '@belfry/db'
import { describeCron, nextRuns, toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import { RawJson } from '../http/json.ts'
import { notFound } from '../http/not-found.ts'
import { type CronJobRow, findCronJob } from './cron-job-row.ts'
import { presentRunTimes } from './present-run-times.ts'

const shownRuns = 5

/** Reads a cron job in its public form. */
export async function readCronJob(ctx: Context, workspaceId: string, id: string): Promise<CronJob> {
  const row = await findCronJob(ctx.pool, workspaceId, id)
  if (!row) throw notFound()
  return presentCronJob(row, ctx.clock.now())
}

/** The public form of a cron job; `now` decides what is next. */
export function presentCronJob(row: CronJobRow, now: number): CronJob {
  const schedule = scheduleOf(row)
  const status = statusOf(row, now)
  const times = presentRunTimes(status === 'active' ? nextRuns(schedule, now, shownRuns) : [])
  return {
    id: toId('cron', row.id),
    workspace_id: toId('ws', row.workspaceId),
    name: row.name,
    cron: row.cron,
    timezone: row.timezone,
    description: describeCron(schedule.cron),
    url: row.url,
    method: row.method,
    headers: JSON.parse(row.headers),
    payload: row.payload === null ? null : new RawJson(row.payload),
    retry: {
      max_retries: row.maxRetries,
      backoff: row.backoff,
      base_delay_ms: row.baseDelayMs,
      max_delay_ms: row.maxDelayMs,
    },
    timeout_ms: row.timeoutMs,
    overlap: row.overlap,
    catch_up: row.catchUp,
    starts_at: row.startsAt?.toISOString() ?? null,
    ends_at: row.endsAt?.toISOString() ?? null,
    status,
    next_run_at: times.next_runs[0] ?? null,
    ...times,
    last_run: presentLastRun(row),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

function statusOf({ pausedAt, endsAt }: CronJobRow, now: number): CronJobStatus {
  if (endsAt !== null && endsAt.getTime() <= now) return 'ended'
  return pausedAt === null ? 'active' : 'paused'
}

function presentLastRun(row: CronJobRow): CronJob['last_run'] {
  if (row.lastRunId === null || row.lastRunStatus === null || row.lastRunFinishedAt === null) return null
  return {
    id: toId('run', row.lastRunId),
    status: row.lastRunStatus,
    response_status: row.lastRunResponseStatus,
    error_code: row.lastRunErrorCode,
    finished_at: row.lastRunFinishedAt.toISOString(),
  }
}
