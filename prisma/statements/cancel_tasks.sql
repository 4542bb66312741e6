-- Cancels those of the given tasks that have not started.
-- Sent by endTasks.

WITH
chosen AS (
  SELECT t.id FROM tasks t WHERE t.id = ANY ($2::uuid[]) AND t.workspace_id = $1 AND t.state = 'pending'
  ORDER BY t.id FOR UPDATE
),
ended AS (
  UPDATE tasks t SET state = 'cancelled', state_reason = 'user', finished_at = clock_timestamp(), updated_at = clock_timestamp()
  FROM chosen WHERE t.id = chosen.id
  RETURNING t.id
)
SELECT count(*)::int AS n, clock_timestamp() AS now FROM ended HAVING count(*) > 0
