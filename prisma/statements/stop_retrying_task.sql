-- Ends a task that waits for a retry.
-- Sent by stopRetryingTask.

WITH stopped AS (
  UPDATE tasks SET state = 'dead', state_reason = 'stopped', quarantined = false, finished_at = clock_timestamp(),
updated_at = clock_timestamp() WHERE id = $1 AND workspace_id = $2 AND state = 'retrying'
  RETURNING workspace_id
),
changed AS (
  INSERT INTO usage_changes (workspace_id, failed) SELECT workspace_id, count(*) FROM stopped GROUP BY workspace_id
)
SELECT clock_timestamp() AS now FROM stopped
