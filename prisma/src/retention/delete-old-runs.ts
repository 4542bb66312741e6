import type { Pool } from '../pool.ts'

/**
 * Deletes the oldest runs of a workspace that are older than `days`, and with the latest run of a finished task the task
 * itself. What is deleted is noted as storage given back, in the same statement. Of several callers each takes other runs.
 * @returns How many runs were deleted; fewer than `limit` when none is left.
 */
export async function deleteOldRuns(pool: Pool, workspaceId: string, days: number, limit: number): Promise<number> {
  const query = { name: 'delete_old_runs', text: oldRunsStatement, values: [workspaceId, days, limit] }
  const { rows } = await pool.query<{ deleted: number }>(query)
  return rows[0]?.deleted ?? 0
}

export const oldRunsStatement = `
  WITH old AS (
    SELECT id, task_id FROM runs
    WHERE workspace_id = $1 AND id < uuid_v7_floor(now() - $2 * interval '1 day') ORDER BY id LIMIT $3
    FOR UPDATE SKIP LOCKED
  ),
  deleted AS (
    DELETE FROM runs r USING old WHERE r.workspace_id = $1 AND r.id = old.id RETURNING octet_length(r.response_body) AS bytes
  ),
  finished AS (
    DELETE FROM tasks t USING old
    WHERE t.id = old.task_id AND t.run_id = old.id AND t.workspace_id = $1 AND t.finished_at IS NOT NULL
    RETURNING t.id
  ),
  requests AS (
    DELETE FROM task_requests r USING finished WHERE r.task_id = finished.id RETURNING octet_length(r.payload) AS bytes
  ),
  noted AS (
    INSERT INTO usage_changes (workspace_id, storage_bytes)
    SELECT $1, -sum(bytes) FROM (SELECT bytes FROM deleted UNION ALL SELECT bytes FROM requests) given_back
    HAVING sum(bytes) > 0
  )
  SELECT count(*)::int AS deleted FROM deleted`
