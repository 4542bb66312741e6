-- Copies a finished task as a new one, and settles it if it is a dead letter.
-- Sent by replayTask.

WITH finished AS (
  SELECT id, workspace_id, source, cron_job_id, event_id, callback_of, has_callbacks, queue_id, execute_at, expires_at,
         created_at, occurrence_at
  FROM tasks
  WHERE id = $1 AND workspace_id = $2 AND state = ANY ($3::task_state[])
),
settled AS (
  UPDATE tasks SET settled_at = now()
  WHERE id = $1 AND workspace_id = $2 AND state IN ('dead', 'cancelled') AND settled_at IS NULL
),
copied AS (
  INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, cron_job_id, event_id, callback_of, has_callbacks,
                     queue_id, replay_of, expires_at)
  SELECT (left(uuid_v7(now())::text, 15) || lpad(to_hex(row_number() OVER (ORDER BY execute_at, id) - 1), 3, '0') || right(gen_random_uuid()::text, 18))::uuid, workspace_id, source, now(), now(), cron_job_id, event_id, callback_of,
         has_callbacks, queue_id, id, now() + (expires_at - CASE WHEN source = 'cron' AND occurrence_at IS NULL THEN greatest(execute_at, created_at) ELSE execute_at END)
  FROM finished
  RETURNING id, workspace_id, due_at, replay_of
),
requested AS (
  INSERT INTO task_requests (task_id, topic, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, created_by, depth, labels, retry_delays, qstash, connection, subscription_id, is_report, extra_bytes)
  SELECT c.id, r.topic, r.name, r.url, r.method, r.headers, r.payload, r.content_type, r.callbacks, r.queue, r.max_retries, r.backoff, r.base_delay_ms, r.max_delay_ms, r.timeout_ms, $4::text, greatest(r.depth, $5::int2), r.labels, r.retry_delays, r.qstash, r.connection, r.subscription_id, r.is_report, nullif(greatest(coalesce(octet_length(r.name), 0) + coalesce(octet_length(r.url), 0) + coalesce(octet_length(r.headers), 0) + coalesce(octet_length(r.callbacks), 0) - 1024, 0), 0)
  FROM copied c JOIN task_requests r ON r.task_id = c.replay_of
),
labelled AS (
  INSERT INTO task_labels (workspace_id, label, task_id)
  SELECT s.workspace_id, l.label, s.task_id FROM (
  SELECT c.workspace_id, c.id AS task_id, r.labels FROM copied c JOIN task_requests r ON r.task_id = c.replay_of) s CROSS JOIN LATERAL unnest(s.labels) AS l (label)
),
counted AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(coalesce(octet_length(payload), 0) + coalesce(extra_bytes, 0)) FROM (
  SELECT p.workspace_id, r.payload, nullif(greatest(coalesce(octet_length(r.name), 0) + coalesce(octet_length(r.url), 0) + coalesce(octet_length(r.headers), 0) + coalesce(octet_length(r.callbacks), 0) - 1024, 0), 0) AS extra_bytes
  FROM finished p JOIN task_requests r ON r.task_id = p.id) stored
  WHERE payload IS NOT NULL OR extra_bytes IS NOT NULL GROUP BY workspace_id
)
SELECT id, due_at AS "dueAt", clock_timestamp() AS now FROM copied
