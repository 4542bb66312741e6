import type { Pool } from '../postgres/pool.ts'
import { hostOfRequest } from '../tasks/task-row.ts'
import { lagBucketSql } from './lag-buckets.ts'

/**
 * Adds run deltas, the rows of `run_changes`, to `run_statistics` and `host_statistics`, and removes them. Any number of
 * schedulers may call this at once: each delta counts exactly once.
 * @returns How many deltas were folded, at most `limit`.
 */
export async function foldRunChanges(pool: Pool, limit: number): Promise<number> {
  const { rows } = await pool.query<{ folded: number }>({ name: 'fold_run_changes', text: statement, values: [limit] })
  return rows[0]?.folded ?? 0
}

export const runChanges = 'SELECT ctid FROM run_changes'

// Skips runs older than every window of host statistics. The host is a subquery, because a join could read the whole
// table. `left` bounds the index entry: a text that is not a URL may be long.
const countedByHost = `
    SELECT workspace_id, minute, host, sum(weight) AS total, coalesce(sum(weight) FILTER (WHERE failed), 0) AS failed,
           sum(weight * ms::bigint) AS duration_ms
    FROM (
      SELECT t.workspace_id, t.minute, t.weight, t.failed, attempt.ms,
             (SELECT left(${hostOfRequest}, 300) FROM task_requests r WHERE r.task_id = attempt.task_id) AS host
      FROM taken t, unnest(t.task_ids, t.durations_ms) AS attempt (task_id, ms)
      WHERE t.minute > now() - interval '25 hours'
    ) attempts WHERE host IS NOT NULL GROUP BY 1, 2, 3`

/** Returns CTEs that add the counts of a CTE to the statistics of their minutes and of their hours. */
function addTo(table: string, counted: string, key: string, sums: readonly string[]): string {
  const ofHours = sums.map(column => `sum(${column})`)
  const added = sums.map(column => `${column} = ${table}.${column} + excluded.${column}`)
  // In the order of the primary key, so concurrent statements cannot deadlock.
  return `
  periods_of_${table} AS (
    SELECT workspace_id, 1::smallint AS period, minute AS starts_at, ${key}, ${sums.join(', ')} FROM ${counted}
    UNION ALL
    SELECT workspace_id, 60::smallint, date_bin('1 hour', minute, 'epoch'), ${key}, ${ofHours.join(', ')}
    FROM ${counted} GROUP BY 1, 2, 3, 4
  ),
  added_to_${table} AS (
    INSERT INTO ${table} (workspace_id, period, starts_at, ${key}, ${sums.join(', ')})
    SELECT * FROM periods_of_${table} ORDER BY 1, 2, 3, 4
    ON CONFLICT (workspace_id, period, starts_at, ${key}) DO UPDATE SET ${added.join(', ')}
  )`
}

const statement = `
  WITH taken AS (
    DELETE FROM run_changes
    WHERE ctid = ANY (ARRAY(${runChanges} LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING workspace_id, minute, failed, weight, lags_ms, task_ids, durations_ms
  ),
  counted AS (
    SELECT workspace_id, minute, ${lagBucketSql('ms')} AS lag_bucket, sum(weight) AS total,
           coalesce(sum(weight) FILTER (WHERE failed), 0) AS failed
    FROM taken, unnest(lags_ms) AS ms GROUP BY 1, 2, 3
  ),
  counted_by_host AS (${countedByHost}
  ),
  ${addTo('run_statistics', 'counted', 'lag_bucket', ['total', 'failed'])},
  ${addTo('host_statistics', 'counted_by_host', 'host', ['total', 'failed', 'duration_ms'])}
  SELECT count(*)::int AS folded FROM taken`
