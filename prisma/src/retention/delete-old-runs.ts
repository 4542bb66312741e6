import { NIL_UUID } from '@belfry/domain'
import type { Pool } from '../postgres/pool.ts'

/** One page of a workspace's old runs. */
type OldRunsPage = {
  /** Runs on the page; fewer than `limit` on the last one. */
  examined: number
  deleted: number
  /** Deleted dead letters, which no user has replayed or discarded for a year. */
  deadLetters: number
  /** The last run of the page, from which the next page continues; null when the page is empty. */
  last: string | null
}

/**
 * How many days a dead letter and its runs stay at least, independently of the log retention of the tier. Dead letters are
 * undelivered work, so they stay as long as the longest log. They expire, so forgotten ones do not accumulate.
 */
const deadLetterDays = 365

/**
 * Reads the next page of a workspace's runs that are older than `days`, and deletes all but those of dead letters. With the
 * latest run of a finished task it deletes the task. The same statement records the freed storage. It waits for no row:
 * rows that another caller holds stay until the next round.
 * @param after - The last run of the previous page. Default: null, the first page.
 */
export async function deleteOldRuns(
  pool: Pool,
  workspaceId: string,
  days: number,
  limit: number,
  after: string | null = null,
): Promise<OldRunsPage> {
  const values = [workspaceId, days, limit, after ?? NIL_UUID]
  const { rows } = await pool.query<OldRunsPage>({ name: 'delete_old_runs', text: oldRunsStatement, values })
  return rows[0] ?? { examined: 0, deleted: 0, deadLetters: 0, last: null }
}

// A run and its finished task are deleted together. When another caller holds the task, both stay: without its latest run,
// the task would never be found again.
export const oldRunsStatement = `
  WITH page AS (
    SELECT id, task_id FROM runs
    WHERE workspace_id = $1 AND id > $4 AND id < uuid_v7_floor(now() - $2 * interval '1 day') ORDER BY id LIMIT $3
    FOR UPDATE SKIP LOCKED
  ),
  old AS (
    SELECT page.id, CASE WHEN t.run_id = page.id AND t.finished_at IS NOT NULL THEN page.task_id END AS finished_task
    FROM page LEFT JOIN LATERAL (
      SELECT state, settled_at, finished_at, run_id FROM tasks WHERE id = page.task_id AND workspace_id = $1 LIMIT 1
    ) t ON true
    WHERE (t.state = 'dead' AND t.settled_at IS NULL
           AND t.finished_at > now() - greatest($2, ${deadLetterDays}) * interval '1 day') IS NOT TRUE
  ),
  finished AS (
    SELECT t.id, t.state = 'dead' AND t.settled_at IS NULL AS is_dead_letter
    FROM old JOIN tasks t ON t.id = old.finished_task FOR UPDATE OF t SKIP LOCKED
  ),
  deleted AS (
    DELETE FROM runs r USING old
    WHERE r.workspace_id = $1 AND r.id = old.id
      AND (old.finished_task IS NULL OR old.finished_task IN (SELECT id FROM finished))
    RETURNING octet_length(r.response_body) AS bytes
  ),
  tasks_deleted AS (DELETE FROM tasks t USING finished WHERE t.id = finished.id RETURNING t.id, is_dead_letter),
  requests AS (
    DELETE FROM task_requests r USING tasks_deleted t WHERE r.task_id = t.id RETURNING octet_length(r.payload) AS bytes
  ),
  recorded AS (
    INSERT INTO usage_changes (workspace_id, storage_bytes)
    SELECT $1, -sum(bytes) FROM (SELECT bytes FROM deleted UNION ALL SELECT bytes FROM requests) freed
    HAVING sum(bytes) > 0
  )
  SELECT (SELECT count(*)::int FROM page) AS examined, (SELECT count(*)::int FROM deleted) AS deleted,
         (SELECT count(*)::int FROM tasks_deleted WHERE is_dead_letter) AS "deadLetters",
         (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last`
