-- Stores the real outcomes of attempts that count as lost.
-- Sent by recordAttempts.

WITH input AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[]::task_state[], $4::float8[], $5::text[]::run_status[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::text[], $10::int2[], $11::text[], $12::bytea[], $13::int4[], $14::bool[], $15::text[], $16::text[], $17::text[], $18::text[]) AS input (task_id, run_id, to_state, retry_delay_ms, status, scheduled_at, started_at, finished_at, request_headers, response_status, response_headers, response_body, response_bytes, response_truncated, error_code, error_message, waited_for, timings)),
moved AS (
  UPDATE tasks t
  SET
      state = i.to_state, quarantined = false, lost_alone = 0, updated_at = now(),
      due_at = CASE i.to_state WHEN 'retrying' THEN clock_timestamp() + i.retry_delay_ms * interval '1 millisecond'
                               ELSE t.due_at END,
      finished_at = CASE i.to_state WHEN 'retrying' THEN NULL ELSE now() END, lost = t.lost - 1 + (coalesce(i.error_code, '') IN ('worker_lost', 'stale_connection'))::int, waits_for = CASE waits_for WHEN 1 THEN 0 ELSE waits_for END
  FROM input i
  WHERE t.id = i.task_id AND t.run_id = i.run_id AND t.state IS NOT DISTINCT FROM (SELECT 'retrying'::task_state) AND t.quarantined
  RETURNING i.*, t.id, t.workspace_id, t.due_at
),
stored AS (
  UPDATE runs r
  SET status = m.status, started_at = m.started_at, finished_at = m.finished_at, request_headers = m.request_headers,
      response_status = m.response_status, response_headers = m.response_headers, response_body = m.response_body,
      response_bytes = m.response_bytes, response_truncated = m.response_truncated, error_code = m.error_code,
      error_message = m.error_message, extra_bytes = m.extra_bytes, waited_for = m.waited_for, timings = m.timings
  FROM (SELECT *, nullif(greatest(coalesce(octet_length(request_headers), 0) + coalesce(octet_length(response_headers), 0) - 4096, 0), 0) AS extra_bytes FROM moved) m WHERE r.workspace_id = m.workspace_id AND r.id = m.run_id
),
changed AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes, failed)
  SELECT workspace_id, sum(coalesce(octet_length(response_body), 0) + coalesce(nullif(greatest(coalesce(octet_length(request_headers), 0) + coalesce(octet_length(response_headers), 0) - 4096, 0), 0), 0)),
         count(*) FILTER (WHERE to_state = 'dead')
  FROM moved WHERE octet_length(response_body) > 0 OR to_state = 'dead' OR nullif(greatest(coalesce(octet_length(request_headers), 0) + coalesce(octet_length(response_headers), 0) - 4096, 0), 0) > 0
  GROUP BY workspace_id
)
-- One row for nearly all batches: most attempts are stored, and end their tasks.
SELECT NULL::uuid AS "runId", NULL::timestamptz AS "dueAt", NULL::timestamptz AS now, count(*)::int AS stored FROM moved
UNION ALL
SELECT run_id, CASE to_state WHEN 'retrying' THEN due_at END, CASE to_state WHEN 'retrying' THEN clock_timestamp() END, NULL
FROM moved WHERE to_state = 'retrying' OR (SELECT count(*) FROM moved) < cardinality($1)
