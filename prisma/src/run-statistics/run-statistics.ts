import type { Db } from '../postgres/in-transaction.ts'
import { lagOfBucket } from './lag-buckets.ts'

/** Attempts that started in a part of a span, with percentiles of their lag; null where nothing started. */
export type RunCount = { total: number; failed: number; lagP50Ms: number | null; lagP99Ms: number | null }

/** The attempts of a span: all of them, and those of each bucket. */
export type RunCounts = { whole: RunCount; buckets: RunCount[] }

/** A period in equal buckets. Its start and its buckets are whole minutes; whole hours, if a bucket has an hour or more. */
export type RunSpan = { fromMs: number; bucketMs: number; count: number }

const hourMs = 3_600_000

/**
 * Returns CTEs that add counts per minute to the statistics of that minute and of its hour.
 * @param counted - A CTE with workspace_id, minute, lag_bucket, total and failed.
 */
export function addToStatistics(counted: string): string {
  // In the order of the primary key, so concurrent statements cannot deadlock.
  return `
  periods AS (
    SELECT workspace_id, 1::smallint AS period, minute AS starts_at, lag_bucket, total, failed FROM ${counted}
    UNION ALL
    SELECT workspace_id, 60::smallint, date_bin('1 hour', minute, 'epoch'), lag_bucket, sum(total), sum(failed)
    FROM ${counted} GROUP BY 1, 2, 3, 4
  ),
  added AS (
    INSERT INTO run_statistics (workspace_id, period, starts_at, lag_bucket, total, failed)
    SELECT workspace_id, period, starts_at, lag_bucket, total, failed FROM periods ORDER BY 1, 2, 3, 4
    ON CONFLICT (workspace_id, period, starts_at, lag_bucket) DO UPDATE SET
      total = run_statistics.total + excluded.total, failed = run_statistics.failed + excluded.failed
  )`
}

type Row = { atMs: number; lagBucket: number; total: number; failed: number }

/** Counts the attempts of a workspace that started in a span. Exact, at a cost that does not depend on their number. */
export async function countRuns(db: Db, workspaceId: string, span: RunSpan): Promise<RunCounts> {
  const { fromMs, bucketMs, count } = span
  const text = `
    SELECT extract(epoch FROM at)::float8 * 1000 AS "atMs", lag_bucket AS "lagBucket", total, failed
    FROM (
      SELECT date_bin($5 * interval '1 millisecond', starts_at, $3) AS at, lag_bucket,
             sum(total)::float8 AS total, sum(failed)::float8 AS failed
      FROM run_statistics WHERE workspace_id = $1 AND period = $2 AND starts_at >= $3 AND starts_at < $4
      GROUP BY 1, 2
    ) counted ORDER BY lag_bucket`
  const period = bucketMs % hourMs === 0 ? 60 : 1
  const [from, to] = [new Date(fromMs), new Date(fromMs + bucketMs * count)]
  const query = { name: 'count_runs', text, values: [workspaceId, period, from, to, bucketMs] }
  const { rows } = await db.query<Row>(query)
  const buckets = Array.from({ length: count }, (): Row[] => [])
  for (const row of rows) buckets[Math.round((row.atMs - fromMs) / bucketMs)]?.push(row)
  return { whole: summarize(rows), buckets: buckets.map(summarize) }
}

// The rows are in the order of their lag.
function summarize(rows: readonly Row[]): RunCount {
  const total = rows.reduce((sum, row) => sum + row.total, 0)
  const failed = rows.reduce((sum, row) => sum + row.failed, 0)
  return { total, failed, lagP50Ms: percentile(rows, total, 0.5), lagP99Ms: percentile(rows, total, 0.99) }
}

// The first lag that is not below the given share of all lags, like percentile_disc.
function percentile(rows: readonly Row[], total: number, share: number): number | null {
  let seen = 0
  for (const { lagBucket, total: here } of rows) {
    seen += here
    if (here > 0 && seen >= total * share) return lagOfBucket(lagBucket)
  }
  return null
}

/**
 * Deletes statistics per minute after 8 days, and per hour after 32 days.
 * @returns How many rows were deleted, at most `limit` of each period.
 */
export async function deleteOldStatistics(db: Db, limit: number): Promise<number> {
  const text = `
    DELETE FROM run_statistics WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM run_statistics WHERE period = $1 AND starts_at < now() - $2 * interval '1 day'
      ORDER BY starts_at LIMIT $3 FOR UPDATE SKIP LOCKED
    ))`
  const minutes = await db.query(text, [1, keptDays.minutes, limit])
  const hours = await db.query(text, [60, keptDays.hours, limit])
  return Math.max(minutes.rowCount ?? 0, hours.rowCount ?? 0)
}

export const keptDays = { minutes: 8, hours: 32 }
