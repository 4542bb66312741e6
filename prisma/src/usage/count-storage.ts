/**
 * The part of a statement that records the payloads which it stores.
 * @param stored - A query of the workspace and the payload of each new task.
 */
export function countedPayloads(stored: string): string {
  return `counted AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes)
      SELECT workspace_id, sum(octet_length(payload)) FROM (${stored}) stored WHERE payload IS NOT NULL GROUP BY workspace_id
    )`
}

/**
 * The parts of a statement that record how much larger or smaller the payloads of `task` become, whose ids and workspaces
 * it has. They lock the requests before they read them: another change of the same task may have committed since the
 * statement began. The statement updates the requests of `before`, by its `task_id`.
 * @param payload - The new payload, as SQL.
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
