import { operations } from '@belfry/contract/operations'
import type { RunFailures } from '@belfry/contract/run'
import { type Db, inTransaction } from '@belfry/db/postgres/in-transaction'
import { countRuns, keptDays, type RunSpan } from '@belfry/db/run-statistics/run-statistics'
import { hostOfRequest } from '@belfry/db/tasks/task-row'
import { toId } from '@belfry/domain/id'
import { causeOf, type StoredResponse } from '@belfry/present/present-run'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../endpoint.ts'
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
function spanOf({ from, to }: Period, now: number): RunSpan {
  const endMs = Math.min(to?.getTime() ?? now, now + 1)
  const beginMs = Math.max(from?.getTime() ?? endMs - dayMs, now - keptDays.hours * dayMs)
  // The statistics of minutes are deleted first.
  const minMs = beginMs < now - (keptDays.minutes - 1) * dayMs ? hourMs : 0
  const bucketMs = steps.find(step => step >= minMs && step * maxBuckets >= endMs - beginMs) ?? dayMs
  const fromMs = Math.floor(beginMs / bucketMs) * bucketMs
  return { fromMs, bucketMs, count: Math.max(0, Math.ceil((endMs - fromMs) / bucketMs)) }
}

/** How many runs are read, and how many groups are returned, at most. */
const defaultLimits = { runs: 10_000, groups: 50 }

type Period = { from?: Date | undefined; to?: Date | undefined }

type Row = {
  host: string | null
  errorCode: string
  errorMessage: string | null
  count: number
  firstAt: Date
  lastAt: Date
  lastRunId: string
  state: RunFailures['data'][number]['state']
  taskName: string
  counted: number
  isPartial: boolean
} & StoredResponse

// As much of a response as its excerpt is made from.
const causeBytes = 8_000

export const listFailures = endpoint(operations.listFailures, async (ctx, { caller, query }) => {
  const failures = await groupFailures(ctx.pool, caller.workspaceId, query)
  const isPartial = failures.is_partial || (await hasStoredRuns(ctx, caller.workspaceId, query))
  return { ...failures, is_partial: isPartial }
})

/** Groups the latest failed runs of a span, optionally of some hosts only. Reads them along the index of failures. */
export async function groupFailures(
  db: Db,
  workspaceId: string,
  { from, to, host }: Period & { host?: string[] | undefined },
  limits = defaultLimits,
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
      FROM failures f JOIN task_requests r ON r.task_id = f.task_id
      WHERE $5::text[] IS NULL OR ${hostOfRequest} = ANY ($5) GROUP BY 1, 2, 3
    ), whole AS (
      SELECT coalesce(sum(count), 0)::int AS counted, (SELECT count(*) FROM latest) >= $4 AS is_partial FROM groups
    )
    SELECT g.host, g.error_code AS "errorCode", g.response_status AS "responseStatus", f.error_message AS "errorMessage",
           g.count, g.first_at AS "firstAt", g.last_at AS "lastAt", g.last_id AS "lastRunId", r.name AS "taskName",
           CASE WHEN s.state = 'resolved' AND g.last_at > s.changed_at THEN 'open' ELSE coalesce(s.state, 'open') END AS state,
           u.response_headers AS "responseHeaders", substring(u.response_body FOR ${causeBytes}) AS "responseBody",
           u.response_bytes AS "responseBytes", true AS "responseTruncated", w.counted, w.is_partial AS "isPartial"
    FROM whole w LEFT JOIN (
      groups g JOIN failures f ON f.id = g.last_id JOIN task_requests r ON r.task_id = f.task_id
      JOIN runs u ON u.workspace_id = $1 AND u.id = g.last_id
      LEFT JOIN failure_states s ON s.workspace_id = $1 AND s.host = g.host AND s.error_code = g.error_code
        AND s.response_status = coalesce(g.response_status, 0)
    ) ON true
    ORDER BY g.count DESC, g.last_at DESC LIMIT $6`
  const values = [workspaceId, from ?? null, to ?? null, limits.runs + 1, host ?? null, limits.groups]
  const { rows } = await db.query<Row>(text, values)
  return {
    // Without a group, the only row has the counts alone.
    data: rows.flatMap(({ host, ...row }) =>
      host === null
        ? []
        : [
            {
              host,
              error_code: row.errorCode,
              response_status: row.responseStatus,
              error_message: row.errorMessage ?? '',
              cause: causeOf(row),
              count: row.count,
              state: row.state,
              first_at: row.firstAt.toISOString(),
              last_at: row.lastAt.toISOString(),
              last_run_id: toId('run', row.lastRunId),
              task_name: row.taskName,
            },
          ],
    ),
    counted: rows[0]?.counted ?? 0,
    is_partial: rows[0]?.isPartial ?? false,
  }
}

export const setFailureState = endpoint(operations.setFailureState, async (ctx, { caller, body }) => {
  const { host, state, error_code, response_status } = body
  const values: unknown[] = [caller.workspaceId, host.toLowerCase(), error_code, response_status ?? 0]
  const which = 'workspace_id = $1 AND host = $2 AND error_code = $3 AND response_status = $4'
  await inTransaction(ctx.pool, async tx => {
    await tx.query(`DELETE FROM failure_states WHERE ${which}`, values)
    const text = `
      INSERT INTO failure_states (workspace_id, host, error_code, response_status, state) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (workspace_id, host, error_code, response_status) DO UPDATE SET state = excluded.state, changed_at = now()`
    if (state !== 'open') await tx.query(text, [...values, state])
    await audit(tx, caller, 'host.failure_changed', host, { error_code, response_status, state })
  })
})
