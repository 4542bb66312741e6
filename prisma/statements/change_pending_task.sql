-- Changes a task that has not started. Here, all of its fields.
-- Sent by changePendingTask.

WITH task AS (
  UPDATE tasks
  SET execute_at = coalesce($3::timestamptz, execute_at), due_at = coalesce($3::timestamptz, due_at), updated_at = now(),
      expires_at = $4::timestamptz, has_callbacks = true, queue_id = CASE WHEN $22::text IS NOT NULL THEN md5(workspace_id::text || ' ' || $22::text)::uuid END, waits_for = CASE waits_for WHEN 1 THEN 0 ELSE waits_for END
  WHERE id = $1 AND workspace_id = $2 AND state = 'pending' AND ($3::timestamptz IS NULL OR $3 > clock_timestamp())
    AND ($4::timestamptz IS NULL OR $4::timestamptz > coalesce($3::timestamptz, execute_at))
  RETURNING id, workspace_id
),
unlabelled AS (
  DELETE FROM task_labels l USING (
    SELECT task.workspace_id, task.id, k.label
    FROM task JOIN task_requests r ON r.task_id = task.id CROSS JOIN LATERAL unnest(r.labels) AS k (label)
    WHERE k.label <> ALL (coalesce($23::text[], '{}'))
  ) gone
  WHERE l.workspace_id = gone.workspace_id AND l.label = gone.label AND l.task_id = gone.id
),
labelled AS (
  INSERT INTO task_labels (workspace_id, label, task_id)
  SELECT task.workspace_id, k.label, task.id FROM task CROSS JOIN LATERAL unnest($23::text[]) AS k (label)
  ON CONFLICT DO NOTHING
),
before AS (
  SELECT r.task_id, task.workspace_id, coalesce(octet_length(r.payload), 0) + coalesce(r.extra_bytes, 0) AS bytes
  FROM task JOIN task_requests r ON r.task_id = task.id FOR UPDATE OF r
),
request AS (
  UPDATE task_requests r SET name = $5, url = $6, method = $7, headers = $8, payload = $9, content_type = $10, callbacks = nullif(jsonb_strip_nulls(coalesce(callbacks::jsonb, '{}') || $11::jsonb)::text, '{}'), queue = $12, max_retries = $13, backoff = $14, base_delay_ms = $15, max_delay_ms = $16, timeout_ms = $17, retry_delays = $18, qstash = $19, connection = $20, updated_by = $21, is_report = NULL, subscription_id = NULL, labels = nullif($23::text[], '{}'), extra_bytes = nullif(greatest(coalesce(octet_length(($5)::text), 0) + coalesce(octet_length(($6)::text), 0) + coalesce(octet_length(($8)::text), 0) + coalesce(octet_length((nullif(jsonb_strip_nulls(coalesce(callbacks::jsonb, '{}') || $11::jsonb)::text, '{}'))::text), 0) - 1024, 0), 0)
  FROM before WHERE r.task_id = before.task_id
  RETURNING r.task_id, coalesce(octet_length(r.payload), 0) + coalesce(r.extra_bytes, 0) AS bytes
),
counted AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(request.bytes - before.bytes) FROM request JOIN before USING (task_id)
  GROUP BY workspace_id HAVING sum(request.bytes - before.bytes) <> 0
)
SELECT clock_timestamp() AS now FROM task
