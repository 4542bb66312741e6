-- Stores occurrences as tasks, each exactly once.
-- Sent by expandCronJobs.

WITH input AS (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::boolean[]) AS i (id, cron_job_id, at, missed)
),
inserted AS (
  INSERT INTO tasks (id, workspace_id, source, state, state_reason, execute_at, due_at, occurrence_at, cron_job_id,
                     has_callbacks, created_at, finished_at, queue_id, expires_at)
  SELECT i.id, j.workspace_id, 'cron', CASE WHEN i.missed THEN 'cancelled' ELSE 'pending' END::task_state,
         CASE WHEN i.missed THEN 'missed' END, d.at, d.at, i.at, j.id,
         j.callbacks IS NOT NULL, clock_timestamp(), CASE WHEN i.missed THEN now() END,
         CASE WHEN j.queue IS NOT NULL THEN md5(j.workspace_id::text || ' ' || j.queue)::uuid END, d.at + j.max_age_ms * interval '1 millisecond'
  FROM input i JOIN cron_jobs j ON j.id = i.cron_job_id
  -- A schedule of the QStash interface may have a delay.
  CROSS JOIN LATERAL (
    SELECT i.at + coalesce((j.qstash::json ->> 'delayMs')::bigint, 0) * interval '1 millisecond' AS at
  ) d
  WHERE NOT EXISTS (
    SELECT FROM tasks t WHERE t.cron_job_id = i.cron_job_id AND t.occurrence_at = i.at
      AND t.state = 'cancelled' AND t.state_reason = 'user'
  )
  ON CONFLICT (cron_job_id, occurrence_at) WHERE occurrence_at IS NOT NULL AND state <> 'cancelled' DO NOTHING
  RETURNING id, workspace_id, cron_job_id, state, due_at
),
requested AS (
  INSERT INTO task_requests (task_id, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, created_by, depth, labels, retry_delays, qstash, connection, subscription_id, is_report, extra_bytes)
  SELECT n.id, j.name, j.url, j.method, j.headers, j.payload, j.content_type, j.callbacks, j.queue, j.max_retries, j.backoff, j.base_delay_ms, j.max_delay_ms, j.timeout_ms, NULL, NULL, j.labels, j.retry_delays, j.qstash, j.connection, j.subscription_id, CASE WHEN j.subscription_id IS NOT NULL THEN true END, nullif(greatest(coalesce(octet_length(j.name), 0) + coalesce(octet_length(j.url), 0) + coalesce(octet_length(j.headers), 0) + coalesce(octet_length(j.callbacks), 0) - 1024, 0), 0)
  FROM inserted n JOIN cron_jobs j ON j.id = n.cron_job_id
),
labelled AS (
  INSERT INTO task_labels (workspace_id, label, task_id)
  SELECT s.workspace_id, l.label, s.task_id FROM (SELECT j.workspace_id, n.id AS task_id, j.labels FROM inserted n JOIN cron_jobs j ON j.id = n.cron_job_id) s CROSS JOIN LATERAL unnest(s.labels) AS l (label)
),
counted AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(coalesce(octet_length(payload), 0) + coalesce(extra_bytes, 0)) FROM (
  SELECT j.workspace_id, j.payload, nullif(greatest(coalesce(octet_length(j.name), 0) + coalesce(octet_length(j.url), 0) + coalesce(octet_length(j.headers), 0) + coalesce(octet_length(j.callbacks), 0) - 1024, 0), 0) AS extra_bytes
  FROM inserted n JOIN cron_jobs j ON j.id = n.cron_job_id) stored
  WHERE payload IS NOT NULL OR extra_bytes IS NOT NULL GROUP BY workspace_id
)
SELECT n.id, n.due_at AS "dueAt", n.workspace_id AS "workspaceId", split_part(j.url, '/', 1) || '//' || split_part(split_part(j.url, '/', 3), '?', 1) AS origin
FROM inserted n JOIN cron_jobs j ON j.id = n.cron_job_id WHERE n.state = 'pending'
