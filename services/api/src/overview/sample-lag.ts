import type { Db } from '@belfry/db'
import { type Span, spanValues } from './span.ts'

export type Lag = { p50Ms: number | null; p99Ms: number | null; sampled: number }

type Row = Lag & { bucket: number | null }

// Samples each bucket in several places, because a burst at its beginning would not represent all of it.
const placesInBucket = 8
const maxInPlace = 40

/** Computes how late the runs of each bucket and of all buckets started, from a sample where there are many. */
export async function sampleLag(
  db: Db,
  workspaceId: string,
  span: Span,
): Promise<{ whole: Lag; buckets: Map<number, Lag> }> {
  const text = `
    SELECT place.n / $5::int AS bucket, count(*)::int AS sampled,
           percentile_disc(0.5) WITHIN GROUP (ORDER BY lag.ms) AS "p50Ms",
           percentile_disc(0.99) WITHIN GROUP (ORDER BY lag.ms) AS "p99Ms"
    FROM generate_series(0, $4::int * $5::int - 1) AS place (n)
    CROSS JOIN LATERAL (
      SELECT greatest(0, extract(epoch FROM started_at - scheduled_at) * 1000)::int AS ms FROM runs
      WHERE workspace_id = $1
        AND id >= uuid_v7_floor($2::timestamptz + place.n * $3::interval / $5::int)
        AND id < uuid_v7_floor($2::timestamptz + (place.n + 1) * $3::interval / $5::int)
      ORDER BY id LIMIT $6
    ) lag
    GROUP BY GROUPING SETS ((place.n / $5::int), ())`
  const values = [workspaceId, ...spanValues(span), span.count, placesInBucket, maxInPlace]
  const { rows } = await db.query<Row>(text, values)
  const nothing: Lag = { p50Ms: null, p99Ms: null, sampled: 0 }
  return {
    whole: rows.find(({ bucket }) => bucket === null) ?? nothing,
    buckets: new Map(rows.flatMap(({ bucket, ...lag }) => (bucket === null ? [] : [[bucket, lag]]))),
  }
}
