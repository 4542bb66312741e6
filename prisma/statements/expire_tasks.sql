-- Ends locked tasks whose deadlines have passed.
-- Sent by expireTasks.

WITH expired AS (
  UPDATE tasks
  SET state = 'dead', state_reason = 'expired', quarantined = false, finished_at = now(), updated_at = now()
  WHERE id = ANY ($1::uuid[])
  RETURNING id, workspace_id, attempts
),
changed AS (
    INSERT INTO usage_changes (workspace_id, failed) SELECT workspace_id, count(*) FROM expired WHERE attempts > 0 GROUP BY workspace_id
  )
SELECT id AS "taskId", workspace_id AS "workspaceId", attempts FROM expired
