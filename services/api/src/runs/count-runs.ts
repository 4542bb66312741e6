import { operations } from '@belfry/contract/operations'
import type { RunFailures } from '@belfry/contract/run-failures'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { countRuns, keptDays } from '@belfry/db/run-statistics/run-statistics'
import { hostOfRequest } from '@belfry/db/tasks/task-row'
import { toId } from '@belfry/domain/id'
import { endpoint } from '../endpoint.ts'
import type { Span } from '../overview/overview.ts'
import { hasStoredRuns } from './read-runs.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const steps = [minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs, dayMs]
const maxBuckets = 60

export const countRunsOverTime = endpoint(operations.countRunsOverTime, async (ctx, { caller, query }) => {
  const span = spanOf(query, ctx.clock.now())
  const { buckets } = await countRuns(ctx.pool, caller.workspaceId, span)
  return {
    from: new Date(span.fromMs).toISOString(),
    to: new Date(span.fromMs + span.count * span.bucketMs).toISOString(),
    bucket_ms: span.bucketMs,
    buckets: buckets.map(({ total, failed }, index) => ({
      at: new Date(span.fromMs + index * span.bucketMs).toISOString(),
      total,
      failed,
    })),
  }
})

/** Returns whole buckets that contain a time. Their bounds do not depend on the current time. */
function spanOf({ from, to }: Period, now: number): Span {
  const endMs = Math.min(to?.getTime() ?? now, now + 1)
  const beginMs = Math.max(from?.getTime() ?? endMs - dayMs, now - keptDays.hours * dayMs)
  // The statistics of minutes are deleted first.
  const minMs = beginMs < now - (keptDays.minutes - 1) * dayMs ? hourMs : 0
  const bucketMs = steps.find(step => step >= minMs && step * maxBuckets >= endMs - beginMs) ?? dayMs
  const fromMs = Math.floor(beginMs / bucketMs) * bucketMs
  return { fromMs, bucketMs, count: Math.max(0, Math.ceil((endMs - fromMs) / bucketMs)) }
}

const maxFailures = 10_000
const maxGroups = 50

type Period = { from?: Date | undefined; to?: Date | undefined }

type Row = {
  host: string
  errorCode: string
  responseStatus: number | null
  errorMessage: string | null
  count: number
  firstAt: Date
  lastAt: Date
  lastRunId: string
  taskName: string
  counted: number
}

export const listFailures = endpoint(operations.listFailures, async (ctx, { caller, query }) => {
  const failures = await groupFailures(ctx.pool, caller.workspaceId, query)
  const isPartial = failures.is_partial || (await hasStoredRuns(ctx, caller.workspaceId, query))
  return { ...failures, is_partial: isPartial }
})

/** Groups the latest failed runs of a span. Reads them along the index of failures. */
export async function groupFailures(
  db: Db,
  workspaceId: string,
  { from, to }: Period,
  max = maxFailures,
): Promise<RunFailures> {
  const text = `
    WITH latest AS MATERIALIZED (
      SELECT id, task_id, started_at, response_status, error_code, error_message FROM runs
      WHERE workspace_id = $1 AND status >= 'failed'
        AND id >= uuid_v7_floor(coalesce($2, '2020-01-01'::timestamptz) - interval '1 minute')
        AND id < uuid_v7_floor(coalesce($3, now() + interval '1 day'))
      ORDER BY status DESC, id DESC LIMIT $4
    ), failures AS MATERIALIZED (
      SELECT * FROM latest
      WHERE ($2::timestamptz IS NULL OR started_at >= $2) AND ($3::timestamptz IS NULL OR started_at < $3)
      ORDER BY id DESC LIMIT $4 - 1
    ), groups AS (
      SELECT ${hostOfRequest} AS host, coalesce(f.error_code, '') AS error_code, f.response_status,
             count(*)::int AS count, min(f.started_at) AS first_at, max(f.started_at) AS last_at,
             (array_agg(f.id ORDER BY f.id DESC))[1] AS last_id
      FROM failures f JOIN task_requests r ON r.task_id = f.task_id GROUP BY 1, 2, 3
    )
    SELECT g.host, g.error_code AS "errorCode", g.response_status AS "responseStatus", f.error_message AS "errorMessage",
           g.count, g.first_at AS "firstAt", g.last_at AS "lastAt", g.last_id AS "lastRunId", r.name AS "taskName",
           (SELECT count(*) FROM latest)::int AS counted
    FROM groups g JOIN failures f ON f.id = g.last_id JOIN task_requests r ON r.task_id = f.task_id
    ORDER BY g.count DESC, g.last_at DESC LIMIT ${maxGroups}`
  const { rows } = await db.query<Row>(text, [workspaceId, from ?? null, to ?? null, max + 1])
  const isPartial = (rows[0]?.counted ?? 0) > max
  return {
    data: rows.map(row => ({
      host: row.host,
      error_code: row.errorCode,
      response_status: row.responseStatus,
      error_message: row.errorMessage ?? '',
      count: row.count,
      first_at: row.firstAt.toISOString(),
      last_at: row.lastAt.toISOString(),
      last_run_id: toId('run', row.lastRunId),
      task_name: row.taskName,
    })),
    counted: Math.min(rows[0]?.counted ?? 0, max),
    is_partial: isPartial,
  }
}
