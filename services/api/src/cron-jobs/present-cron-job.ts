import type { CronJob, CronJobStatus, RunTimes } from '@belfry/contract/cron-job'
import { scheduleOf } from '@belfry/db/cron-jobs/cron-job'
import { nextRuns } from '@belfry/domain/cron/cron-schedule'
import { describeCron } from '@belfry/domain/cron/describe-cron'
import type { Occurrence } from '@belfry/domain/cron/next-occurrence'
import { toId } from '@belfry/domain/id'
import { presentBody, presentCallbacks, presentLastRun, presentRetry } from '@belfry/present/task-form'
import type { Context } from '../context.ts'
import { notFound } from '../http/refusals.ts'
import { type CronJobRow, findCronJob } from './cron-job-row.ts'

const shownRuns = 5

/** Reads a cron job in its public form. */
export async function readCronJob(ctx: Context, workspaceId: string, id: string): Promise<CronJob> {
  const row = await findCronJob(ctx.pool, workspaceId, id)
  if (!row) throw notFound()
  return presentCronJob(row, ctx.clock.now())
}

/** Returns the public form of a cron job, with its runs after `now`. */
export function presentCronJob(row: CronJobRow, now: number): CronJob {
  const schedule = scheduleOf(row)
  const status = statusOf(row, now)
  const times = presentRunTimes(status === 'active' ? nextRuns(schedule, now, shownRuns) : [])
  return {
    id: toId('cron', row.id),
    workspace_id: toId('ws', row.workspaceId),
    key: row.key ?? null,
    name: row.name,
    cron: row.cron,
    timezone: row.timezone,
    description: describeCron(schedule.cron),
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
    labels: [...(row.labels ?? [])],
    status,
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

/** Returns the public form of occurrences. */
export function presentRunTimes(occurrences: readonly Occurrence[]): RunTimes {
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
