import type { Pool } from '../postgres/pool.ts'

/**
 * Deletes the oldest tasks of a workspace that were cancelled more than `days` ago. They may have no run, so the deletion of
 * runs does not reach them. Concurrent callers delete different tasks.
 * @returns How many were deleted; fewer than `limit` when none is left.
 */
export async function deleteCancelledTasks(
  pool: Pool,
  workspaceId: string,
  days: number,
  limit: number,
): Promise<number> {
  const query = { name: 'delete_cancelled_tasks', text: cancelledTasksStatement, values: [workspaceId, days, limit] }
  const { rows } = await pool.query<{ deleted: number }>(query)
  return rows[0]?.deleted ?? 0
}

// A task is not older than its id, so the bound on ids skips tasks that cannot have ended that long ago.
export const cancelledTasksStatement = `
  WITH old AS (
    SELECT id FROM tasks
    WHERE workspace_id = $1 AND state = 'cancelled' AND id < uuid_v7_floor(now() - $2 * interval '1 day')
      AND finished_at < now() - $2 * interval '1 day'
    ORDER BY id LIMIT $3
    FOR UPDATE SKIP LOCKED
  ),
  deleted AS (DELETE FROM tasks t USING old WHERE t.id = old.id RETURNING t.id),
  requests AS (
    DELETE FROM task_requests r USING deleted WHERE r.task_id = deleted.id RETURNING octet_length(r.payload) AS bytes
  ),
  recorded AS (
    INSERT INTO usage_changes (workspace_id, storage_bytes) SELECT $1, -sum(bytes) FROM requests HAVING sum(bytes) > 0
  )
  SELECT count(*)::int AS deleted FROM deleted`
