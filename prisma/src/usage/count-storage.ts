/**
 * Returns the CTE that records the size of new payloads.
 * @param stored - A query of the workspace and the payload of each new task.
 */
export function countedPayloads(stored: string): string {
  return `counted AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes)
      SELECT workspace_id, sum(octet_length(payload)) FROM (${stored}) stored WHERE payload IS NOT NULL GROUP BY workspace_id
    )`
}

/**
 * Returns the CTEs that record the change in size of the payloads of `task`, a CTE of ids and workspaces. They lock the
 * requests before they read them, because another change of the same task may have committed since the statement began.
 * The statement must update the requests of `before`, by its `task_id`.
 * @param payload - The SQL of the new payload.
 */
export function changedPayloads(payload: string): string {
  return `before AS (
      SELECT r.task_id, task.workspace_id, octet_length(r.payload) AS bytes
      FROM task JOIN task_requests r ON r.task_id = task.id FOR UPDATE OF r
    ),
    counted AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes)
      SELECT workspace_id, sum(coalesce(octet_length(${payload}::text), 0) - coalesce(bytes, 0))
      FROM before GROUP BY workspace_id
    )`
}
