-- Stores a task of a cron job that is due now.
-- Sent by triggerCronJob.

WITH inserted AS (
  INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, cron_job_id, has_callbacks, queue_id, expires_at)
  SELECT $3, j.workspace_id, 'cron', now(), now(), j.id, j.callbacks IS NOT NULL,
         CASE WHEN j.queue IS NOT NULL THEN md5(j.workspace_id::text || ' ' || j.queue)::uuid END, now() + j.max_age_ms * interval '1 millisecond'
  FROM cron_jobs j WHERE j.id = $1 AND j.workspace_id = $2
  RETURNING id, due_at, cron_job_id
),
requested AS (
  INSERT INTO task_requests (task_id, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, created_by, depth, labels, retry_delays, qstash, connection, subscription_id, is_report, extra_bytes)
  SELECT n.id, j.name, j.url, j.method, j.headers, j.payload, j.content_type, j.callbacks, j.queue, j.max_retries, j.backoff, j.base_delay_ms, j.max_delay_ms, j.timeout_ms, $4::text, $5::int2, j.labels, j.retry_delays, j.qstash, j.connection, j.subscription_id, CASE WHEN j.subscription_id IS NOT NULL THEN true END, nullif(greatest(coalesce(octet_length(j.name), 0) + coalesce(octet_length(j.url), 0) + coalesce(octet_length(j.headers), 0) + coalesce(octet_length(j.callbacks), 0) - 1024, 0), 0)
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
SELECT id, due_at AS "dueAt" FROM inserted
