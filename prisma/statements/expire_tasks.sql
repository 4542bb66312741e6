-- Ends those of the given tasks whose deadlines have passed.
-- Sent by expireTasks.

WITH chosen AS (
  SELECT t.id FROM tasks t WHERE t.id = ANY ($1::uuid[]) AND (t.expires_at IS NOT NULL AND t.expires_at <= clock_timestamp())
    AND t.state NOT IN ('processing', 'success', 'dead', 'cancelled') AND t.waits_for <> 2
  FOR UPDATE SKIP LOCKED),
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
