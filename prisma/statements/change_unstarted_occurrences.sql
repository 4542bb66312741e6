-- Gives the occurrences that have not started a new request.
-- Sent by changeCronJob.

WITH task AS (
  UPDATE tasks SET updated_at = now(), queue_id = CASE WHEN $10::text IS NOT NULL THEN md5(workspace_id::text || ' ' || $10::text)::uuid END, waits_for = CASE waits_for WHEN 1 THEN 0 ELSE waits_for END, has_callbacks = $9::text IS NOT NULL
  WHERE cron_job_id = $1 AND finished_at IS NULL
AND state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled') AND occurrence_at IS NOT NULL
  RETURNING id, workspace_id
),
unlabelled AS (
  DELETE FROM task_labels l USING (
    SELECT task.workspace_id, task.id, k.label
    FROM task JOIN task_requests r ON r.task_id = task.id CROSS JOIN LATERAL unnest(r.labels) AS k (label)
    WHERE k.label <> ALL (coalesce($3::text[], '{}'))
  ) gone
  WHERE l.workspace_id = gone.workspace_id AND l.label = gone.label AND l.task_id = gone.id
),
labelled AS (
  INSERT INTO task_labels (workspace_id, label, task_id)
  SELECT task.workspace_id, k.label, task.id FROM task CROSS JOIN LATERAL unnest($3::text[]) AS k (label)
  ON CONFLICT DO NOTHING
),
before AS (
  SELECT r.task_id, task.workspace_id, coalesce(octet_length(r.payload), 0) + coalesce(r.extra_bytes, 0) AS bytes
  FROM task JOIN task_requests r ON r.task_id = task.id FOR UPDATE OF r
),
request AS (
  UPDATE task_requests r SET name = $2, labels = $3, url = $4, method = $5, headers = $6, payload = $7, content_type = $8, callbacks = nullif(jsonb_strip_nulls(coalesce(callbacks::jsonb, '{}') || $9::jsonb)::text, '{}'), queue = $10, max_retries = $11, backoff = $12, base_delay_ms = $13, max_delay_ms = $14, timeout_ms = $15, retry_delays = $16, qstash = $17, connection = $18, extra_bytes = nullif(greatest(coalesce(octet_length(($2)::text), 0) + coalesce(octet_length(($4)::text), 0) + coalesce(octet_length(($6)::text), 0) + coalesce(octet_length((nullif(jsonb_strip_nulls(coalesce(callbacks::jsonb, '{}') || $9::jsonb)::text, '{}'))::text), 0) - 1024, 0), 0)
  FROM before WHERE r.task_id = before.task_id
  RETURNING r.task_id, coalesce(octet_length(r.payload), 0) + coalesce(r.extra_bytes, 0) AS bytes
),
counted AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(request.bytes - before.bytes) FROM request JOIN before USING (task_id)
  GROUP BY workspace_id HAVING sum(request.bytes - before.bytes) <> 0
)
SELECT FROM task
