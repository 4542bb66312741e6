-- Ends those of the given tasks that wait for a retry.
-- Sent by endTasks.

WITH
chosen AS (
  SELECT t.id FROM tasks t WHERE t.id = ANY ($2::uuid[]) AND t.workspace_id = $1 AND t.state = 'retrying'
  ORDER BY t.id FOR UPDATE
),
ended AS (
  UPDATE tasks t SET state = 'dead', state_reason = 'stopped', quarantined = false, finished_at = clock_timestamp(),
updated_at = clock_timestamp() FROM chosen WHERE t.id = chosen.id RETURNING t.workspace_id
),
changed AS (
    INSERT INTO usage_changes (workspace_id, failed) SELECT workspace_id, count(*) FROM ended GROUP BY workspace_id
  )
SELECT count(*)::int AS n, clock_timestamp() AS now FROM ended HAVING count(*) > 0
