import type { Db } from '@belfry/db'
import { type Span, spanValues } from './span.ts'

export type RunCount = { total: number; failed: number; isCapped: boolean }

/** The maximum number of runs that are counted in a bucket. Bounds the cost of the busiest workspace. */
const maxInBucket = 5_000

/**
 * Counts the runs of each bucket along two indexes, without reading a run: ids contain the time of their attempt. A bucket
 * with more runs than the maximum is counted up to it, and its failures over the same part.
 */
export async function countRuns(
  db: Db,
  workspaceId: string,
  span: Span,
  max: number = maxInBucket,
): Promise<RunCount[]> {
  const text = `
    SELECT total.counted::int AS total, failed.counted::int AS failed, cut.id IS NOT NULL AS "isCapped"
    FROM generate_series(0, $4::int - 1) AS step (n)
    CROSS JOIN LATERAL (
      SELECT uuid_v7_floor($2::timestamptz + step.n * $3::interval) AS low,
             uuid_v7_floor($2::timestamptz + (step.n + 1) * $3::interval) AS high
    ) bucket
    LEFT JOIN LATERAL (
      SELECT id FROM runs WHERE workspace_id = $1 AND id >= bucket.low AND id < bucket.high
      ORDER BY id OFFSET $5 LIMIT 1
    ) cut ON true
    CROSS JOIN LATERAL (
      SELECT count(*) AS counted FROM runs
      WHERE workspace_id = $1 AND id >= bucket.low AND id < coalesce(cut.id, bucket.high)
    ) total
    CROSS JOIN LATERAL (
      SELECT count(*) AS counted FROM runs
      WHERE workspace_id = $1 AND status >= 'failed' AND status <= 'failed'
        AND id >= bucket.low AND id < coalesce(cut.id, bucket.high)
    ) failed
    ORDER BY step.n`
  const { rows } = await db.query<RunCount>(text, [workspaceId, ...spanValues(span), span.count, max])
  return rows
}
