import { operations } from '@belfry/contract/operations'
import type { Overview, OverviewRange } from '@belfry/contract/overview'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { countRuns } from '@belfry/db/run-statistics/run-statistics'
import { toId } from '@belfry/domain/id'
import { endpoint } from '../endpoint.ts'
import type { Span } from './span.ts'

const minuteMs = 60_000

const steps: Record<OverviewRange, { bucketMs: number; count: number }> = {
  '1h': { bucketMs: minuteMs, count: 60 },
  '24h': { bucketMs: 30 * minuteMs, count: 48 },
  '7d': { bucketMs: 180 * minuteMs, count: 56 },
  '30d': { bucketMs: 720 * minuteMs, count: 60 },
}

export const getOverview = endpoint(operations.getOverview, async (ctx, { caller, query }) => {
  const span = spanOf(query.range, ctx.clock.now())
  const [{ whole, buckets }, failures] = await Promise.all([
    countRuns(ctx.pool, caller.workspaceId, span),
    findFailingHosts(ctx.pool, caller.workspaceId, span),
  ])
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
    ...failures,
  }
})

// Ends with the bucket of the current time, so a bucket has the same bounds in every response.
function spanOf(range: OverviewRange, now: number): Span {
  const { bucketMs, count } = steps[range]
  const end = (Math.floor(now / bucketMs) + 1) * bucketMs
  return { fromMs: end - count * bucketMs, bucketMs, count }
}

const maxFailures = 1_000
const maxHosts = 8

type Row = {
  host: string
  failed: number
  lastRunId: string
  lastFailedAt: Date
  lastResponseStatus: number | null
  lastErrorCode: string | null
  lookedAt: number
}

/** Finds the hosts behind the latest failures of a span. */
async function findFailingHosts(
  db: Db,
  workspaceId: string,
  span: Span,
): Promise<Pick<Overview, 'failing_hosts' | 'failures_looked_at'>> {
  const text = `
    WITH failures AS MATERIALIZED (
      SELECT id, task_id, started_at, response_status, error_code FROM runs
      WHERE workspace_id = $1 AND status >= 'failed' AND id >= uuid_v7_floor($2::timestamptz)
      ORDER BY status DESC, id DESC LIMIT $3
    ), hosts AS (
      SELECT coalesce(substring(r.url FROM '^[^:]+://([^/?#]+)'), r.url) AS host, count(*)::int AS failed,
             (array_agg(f.id ORDER BY f.id DESC))[1] AS last_id
      FROM failures f JOIN task_requests r ON r.task_id = f.task_id GROUP BY 1
    )
    SELECT h.host, h.failed, f.id AS "lastRunId", f.started_at AS "lastFailedAt",
           f.response_status AS "lastResponseStatus", f.error_code AS "lastErrorCode",
           (SELECT count(*) FROM failures)::int AS "lookedAt"
    FROM hosts h JOIN failures f ON f.id = h.last_id
    ORDER BY h.failed DESC, h.host LIMIT $4`
  const { rows } = await db.query<Row>(text, [workspaceId, new Date(span.fromMs), maxFailures, maxHosts])
  return {
    failing_hosts: rows.map(row => ({
      host: row.host,
      failed: row.failed,
      last_failed_at: row.lastFailedAt.toISOString(),
      last_run_id: toId('run', row.lastRunId),
      last_response_status: row.lastResponseStatus,
      last_error_code: row.lastErrorCode,
    })),
    failures_looked_at: rows[0]?.lookedAt ?? 0,
  }
}
