import type { Db } from '../postgres/in-transaction.ts'
import { lagOfBucket } from './lag-buckets.ts'

/** Attempts that started in a part of a span, with percentiles of their lag; null if there were no attempts. */
export type RunCount = { total: number; failed: number; lagP50Ms: number | null; lagP99Ms: number | null }

/** A period in equal buckets. Its start and its buckets are whole minutes; whole hours, if a bucket has an hour or more. */
export type RunSpan = { fromMs: number; bucketMs: number; count: number }

const hourMs = 3_600_000

type Row = { atMs: number; lagBucket: number; total: number; failed: number }

/** Counts the attempts of a workspace that started in a span. Exact, at a cost that does not depend on their number. */
export async function countRuns(db: Db, workspaceId: string, span: RunSpan) {
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
 * Deletes the statistics of runs after 8 days (per minute) or 32 days (per hour), and the statistics of hosts after the
 * longest window of `countHosts`.
 * @returns How many rows were deleted, at most `limit` of each table and period.
 */
export async function deleteOldStatistics(db: Db, limit: number): Promise<number> {
  let max = 0
  for (const [table, period, age] of kept) {
    const text = `
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE period = $1 AND starts_at < now() - $2::interval
        ORDER BY starts_at LIMIT $3 FOR UPDATE SKIP LOCKED
      ))`
    max = Math.max(max, (await db.query(text, [period, age, limit])).rowCount ?? 0)
  }
  return max
}

export const keptDays = { minutes: 8, hours: 32 }

const kept = [
  ['run_statistics', 1, `${keptDays.minutes} days`],
  ['run_statistics', 60, `${keptDays.hours} days`],
  ['host_statistics', 1, '2 hours'],
  ['host_statistics', 60, '26 hours'],
] as const
