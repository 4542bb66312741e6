import type { Pool } from '../postgres/pool.ts'
import { lagBucketSql } from './lag-buckets.ts'
import { addToStatistics } from './run-statistics.ts'

/**
 * Adds run deltas, the rows of `run_changes`, to `run_statistics`, and removes them. Any number of schedulers may call this
 * at once: each delta counts exactly once.
 * @returns How many deltas were folded, at most `limit`.
 */
export async function foldRunChanges(pool: Pool, limit: number): Promise<number> {
  const { rows } = await pool.query<{ folded: number }>({ name: 'fold_run_changes', text: statement, values: [limit] })
  return rows[0]?.folded ?? 0
}

/** The deltas that are not folded yet. */
export const runChanges = 'SELECT ctid FROM run_changes'

const statement = `
  WITH taken AS (
    DELETE FROM run_changes
    WHERE ctid = ANY (ARRAY(${runChanges} LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING workspace_id, minute, failed, weight, lags_ms
  ),
  counted AS (
    SELECT workspace_id, minute, ${lagBucketSql('ms')} AS lag_bucket, sum(weight) AS total,
           coalesce(sum(weight) FILTER (WHERE failed), 0) AS failed
    FROM taken, unnest(lags_ms) AS ms GROUP BY 1, 2, 3
  ),
  ${addToStatistics('counted')}
  SELECT count(*)::int AS folded FROM taken`
