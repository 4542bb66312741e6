-- Cancels a batch of the waiting tasks of a deleted workspace.
-- Sent by windDownWorkspace.

UPDATE tasks SET state = 'cancelled', state_reason = $3, finished_at = clock_timestamp(), updated_at = clock_timestamp()
WHERE id IN (
  SELECT id FROM tasks WHERE workspace_id = $1 AND state = $2::task_state
  ORDER BY id DESC LIMIT 500 FOR UPDATE SKIP LOCKED
)
