-- Stores the runs of finished attempts, and moves their tasks.
-- Sent by recordAttempts.

WITH input AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[]::task_state[], $4::float8[], $5::text[]::run_status[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::text[], $10::int2[], $11::text[], $12::bytea[], $13::int4[], $14::bool[], $15::text[], $16::text[], $17::text[], $18::text[]) AS input (task_id, run_id, to_state, retry_delay_ms, status, scheduled_at, started_at, finished_at, request_headers, response_status, response_headers, response_body, response_bytes, response_truncated, error_code, error_message, waited_for, timings)),
moved AS (
  UPDATE tasks t
  SET
      state = i.to_state, quarantined = false, lost_alone = 0, updated_at = now(),
      due_at = CASE i.to_state WHEN 'retrying' THEN clock_timestamp() + i.retry_delay_ms * interval '1 millisecond'
                               ELSE t.due_at END,
      finished_at = CASE i.to_state WHEN 'retrying' THEN NULL ELSE now() END, lease_until = NULL, dispatcher_id = NULL, prefetched = false,
      lost = t.lost + (coalesce(i.error_code, '') IN ('worker_lost', 'stale_connection'))::int
  FROM input i
  WHERE t.id = i.task_id AND t.run_id = i.run_id AND t.state IS NOT DISTINCT FROM (SELECT 'processing'::task_state)
  RETURNING i.*, t.id, t.workspace_id, t.source, t.attempts, t.due_at, t.cron_job_id, t.queue_id, t.execute_at
),
stored AS (
  INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                    request_headers, response_status, response_headers, response_body, response_bytes,
                    response_truncated, error_code, error_message, cron_job_id, topic, extra_bytes, waited_for, timings)
  SELECT run_id, workspace_id, id, attempts, source, status, scheduled_at, started_at, finished_at,
         request_headers, response_status, response_headers, response_body, response_bytes, response_truncated,
         error_code, error_message, cron_job_id, CASE WHEN moved.source = 'event' THEN (SELECT r.topic FROM task_requests r WHERE r.task_id = moved.id) END, nullif(greatest(coalesce(octet_length(request_headers), 0) + coalesce(octet_length(response_headers), 0) - 4096, 0), 0),
         coalesce(moved.waited_for, CASE WHEN queue_id IS NOT NULL AND attempts = 1
           AND scheduled_at >= execute_at + interval '1000 milliseconds'
           AND (cron_job_id IS NULL OR uuid_v7_time(moved.id) < execute_at + interval '1 minute') THEN 'queue' END), timings
  FROM moved
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
