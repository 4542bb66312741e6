-- Stores a task for each past occurrence of a cron job that has none.
-- Sent by backfillCronJob.

WITH known AS MATERIALIZED (
  SELECT id, occurrence_at AS at, false AS is_open FROM tasks
  WHERE cron_job_id = $1 AND workspace_id = $2 AND occurrence_at = ANY ($5::timestamptz[]) AND state <> 'cancelled'
  UNION ALL
  SELECT id, coalesce(occurrence_at, execute_at) AS at, state = 'cancelled' AND settled_at IS NULL AS is_open FROM tasks
  WHERE cron_job_id = $1 AND workspace_id = $2 AND id >= uuid_v7_floor($3::timestamptz - interval '1 hour')
    AND (occurrence_at IS NULL OR state = 'cancelled')
),
missing AS (
  SELECT i.id, i.at, now() + coalesce((row_number() OVER (ORDER BY i.at) - 1) * interval '1 second' / $6::int, interval '0') AS due_at
  FROM unnest($4::uuid[], $5::timestamptz[]) AS i (id, at)
  WHERE i.at NOT IN (SELECT at FROM known WHERE NOT is_open)
    AND i.at < coalesce((SELECT next_run_at FROM cron_jobs WHERE id = $1), 'infinity')
),
stored AS (
  SELECT FROM (SELECT min(at) AS at FROM missing) first
  JOIN cron_jobs j ON j.id = $1 AND j.workspace_id = $2
  JOIN log_parts p ON p.workspace_id = $2 AND p.state = 'stored'
    AND p.last_run_id >= uuid_v7_floor(greatest(first.at - interval '1 minute', j.created_at))
  WHERE first.at IS NOT NULL LIMIT 1
),
settled AS (
  UPDATE tasks SET settled_at = now()
  WHERE id IN (SELECT k.id FROM known k JOIN missing USING (at) WHERE k.is_open) AND NOT EXISTS (SELECT FROM stored)
),
inserted AS (
    INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, cron_job_id, has_callbacks, queue_id, expires_at)
    SELECT m.id, j.workspace_id, 'cron', m.at, m.due_at, j.id, j.callbacks IS NOT NULL,
           CASE WHEN j.queue IS NOT NULL THEN md5(j.workspace_id::text || ' ' || j.queue)::uuid END, m.due_at + j.max_age_ms * interval '1 millisecond'
    FROM missing m JOIN cron_jobs j ON j.id = $1 AND j.workspace_id = $2 AND NOT EXISTS (SELECT FROM stored)
    RETURNING id, due_at, cron_job_id
  ),
requested AS (
  INSERT INTO task_requests (task_id, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, created_by, depth, labels, retry_delays, qstash, connection, subscription_id, is_report, extra_bytes)
  SELECT n.id, j.name, j.url, j.method, j.headers, j.payload, j.content_type, j.callbacks, j.queue, j.max_retries, j.backoff, j.base_delay_ms, j.max_delay_ms, j.timeout_ms, $7::text, $8::int2, j.labels, j.retry_delays, j.qstash, j.connection, j.subscription_id, CASE WHEN j.subscription_id IS NOT NULL THEN true END, nullif(greatest(coalesce(octet_length(j.name), 0) + coalesce(octet_length(j.url), 0) + coalesce(octet_length(j.headers), 0) + coalesce(octet_length(j.callbacks), 0) - 1024, 0), 0)
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
SELECT id, due_at AS "dueAt" FROM inserted UNION ALL SELECT NULL, NULL FROM stored
