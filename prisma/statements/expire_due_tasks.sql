-- Ends the waiting tasks with the earliest passed deadlines.
-- Sent by expireTasks.

WITH chosen AS (
  SELECT id FROM tasks WHERE expires_at IS NOT NULL AND expires_at <= now() AND state IN ('pending', 'retrying')
    AND waits_for <> 2
  ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED),
expired AS (
  UPDATE tasks t
  SET state = 'dead', state_reason = 'expired', quarantined = false, finished_at = now(), updated_at = now()
  FROM chosen WHERE t.id = chosen.id
  RETURNING t.id, t.workspace_id, t.attempts
),
changed AS (
    INSERT INTO usage_changes (workspace_id, failed) SELECT workspace_id, count(*) FROM expired WHERE attempts > 0 GROUP BY workspace_id
  )
SELECT id AS "taskId", workspace_id AS "workspaceId", attempts FROM expired
