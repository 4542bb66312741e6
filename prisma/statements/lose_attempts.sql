-- Ends attempts that were lost with their dispatcher.
-- Sent by loseAttempts.

WITH moved AS (
  UPDATE tasks t
  SET lease_until = NULL, dispatcher_id = NULL, prefetched = false, quarantined = true, updated_at = now(),
      lost = t.lost + 1, lost_alone = t.lost_alone + $3::boolean::int,
      state = CASE WHEN is_poison THEN 'dead' ELSE 'retrying' END::task_state,
      due_at = CASE WHEN is_poison THEN t.due_at
                    ELSE clock_timestamp() + random() * 5000 * interval '1 millisecond' END,
      finished_at = CASE WHEN is_poison THEN now() END
  FROM (
    SELECT id AS lost_id, due_at AS scheduled_at, lost_alone + $3::boolean::int >= 3 AS is_poison
    FROM tasks WHERE id = ANY ($1::uuid[]) AND run_id = ANY ($2::uuid[]) AND state = 'processing'
    FOR UPDATE
  ) lost
  WHERE t.id = lost.lost_id
  RETURNING t.id, t.workspace_id, t.source, t.state, t.attempts, t.due_at, t.run_id, t.cron_job_id, lost.scheduled_at,
            is_poison
),
stored AS (
  INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                    error_code, error_message, cron_job_id, topic)
  SELECT run_id, workspace_id, id, attempts, source, 'failed', scheduled_at, uuid_v7_time(run_id), clock_timestamp(),
         'worker_lost', 'The dispatcher was lost before it could record the outcome. The target may have been called.'
           || CASE WHEN is_poison THEN ' This task was lost alone 3 times and is not tried again.' ELSE '' END,
         cron_job_id, CASE WHEN moved.source = 'event' THEN (SELECT r.topic FROM task_requests r WHERE r.task_id = moved.id) END
  FROM moved
),
changed AS (
  INSERT INTO usage_changes (workspace_id, failed)
  SELECT workspace_id, count(*) FROM moved WHERE is_poison GROUP BY workspace_id
)
SELECT id AS "taskId", workspace_id AS "workspaceId", state, attempts, due_at AS "dueAt" FROM moved
