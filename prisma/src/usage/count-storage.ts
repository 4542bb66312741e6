/**
 * The part of a statement that notes the payloads which it stores.
 * @param stored - A query of the workspace and the payload of each new task.
 */
export function countedPayloads(stored: string): string {
  return `counted AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes)
      SELECT workspace_id, sum(octet_length(payload)) FROM (${stored}) stored WHERE payload IS NOT NULL GROUP BY workspace_id
    )`
}

/**
 * The part of a statement that notes how much larger or smaller the payloads of `task` become, whose ids and workspaces
 * it has. What is read here is still the old payload: no part of a statement sees what another has written.
 * @param payload - The new payload, as SQL.
 */
export function changedPayloads(payload: string): string {
  return `counted AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes)
      SELECT workspace_id, sum(coalesce(octet_length(${payload}::text), 0) - coalesce(octet_length(r.payload), 0))
      FROM task JOIN task_requests r ON r.task_id = task.id GROUP BY workspace_id
    )`
}
