import { inTransaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { lagBucketSql } from './lag-buckets.ts'
import { addToStatistics, keptDays } from './run-statistics.ts'

type Position = { workspaceId: string; runId: string }

/**
 * Counts a batch of runs from before the statistics existed, in the order of their primary key. One scheduler at a time does
 * this. These runs were all committed before the migration ended, so no position can leave one out.
 * @returns How many runs were read, at most `limit`; 0 when all are counted, or another scheduler counts them.
 */
export async function backfillRunStatistics(pool: Pool, limit: number): Promise<number> {
  return inTransaction(pool, async tx => {
    const text = `
      SELECT workspace_id AS "workspaceId", run_id AS "runId" FROM run_statistics_backfill
      WHERE finished_at IS NULL FOR UPDATE SKIP LOCKED`
    const [position] = (await tx.query<Position>(text)).rows
    if (!position) return 0
    const values = [position.workspaceId, position.runId, limit]
    const { rows } = await tx.query<Position & { read: number }>(statement, values)
    const last = rows[0]
    if (!last || last.read < limit) await tx.query('UPDATE run_statistics_backfill SET finished_at = now()')
    if (!last) return 0
    const to = [last.workspaceId, last.runId]
    await tx.query('UPDATE run_statistics_backfill SET workspace_id = $1, run_id = $2', to)
    return last.read
  })
}

// A run is at most a few minutes older than its start; the bound on ids only skips what no range shows.
const statement = `
  WITH page AS MATERIALIZED (
    SELECT workspace_id, id, started_at, scheduled_at, status, in_statistics FROM runs
    WHERE (workspace_id, id) > ($1::uuid, $2::uuid) AND id >= uuid_v7_floor(now() - interval '${keptDays.hours} days')
    ORDER BY workspace_id, id LIMIT $3
  ),
  counted AS (
    SELECT workspace_id, date_bin('1 minute', started_at, 'epoch') AS minute,
           ${lagBucketSql('run_lag_ms(scheduled_at, started_at)')} AS lag_bucket, count(*) AS total,
           count(*) FILTER (WHERE status = 'failed') AS failed
    FROM page WHERE in_statistics IS NULL GROUP BY 1, 2, 3
  ),
  ${addToStatistics('counted')}
  SELECT workspace_id AS "workspaceId", id AS "runId", (SELECT count(*)::int FROM page) AS read
  FROM page ORDER BY workspace_id DESC, id DESC LIMIT 1`
