-- Stores tasks and their requests. Leaves out a task whose time has come.
-- Sent by insertTasks.

WITH input AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[]::task_source[], $4::timestamptz[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::int2[], $16::text[]::backoff[], $17::int4[], $18::int4[], $19::int4[], $20::text[], $21::text[], $22::text[], $23::int2[]) AS input (id, workspace_id, source, execute_at, event_id, replay_of, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent, created_by, depth)),
judged AS MATERIALIZED (
  SELECT *, execute_at IS NULL OR execute_at > clock_timestamp() AS is_stored FROM input
),
inserted AS (
  INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, event_id, replay_of, has_callbacks, queue_id)
  SELECT id, workspace_id, source, coalesce(execute_at, now()), coalesce(execute_at, now()), event_id, replay_of,
         callbacks IS NOT NULL, CASE WHEN queue IS NOT NULL THEN md5(workspace_id::text || ' ' || queue)::uuid END
  FROM judged WHERE is_stored
),
requested AS (
  INSERT INTO task_requests (task_id, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent, created_by, depth, extra_bytes)
  SELECT id, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent, created_by, depth, nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0)
  FROM judged WHERE is_stored
),
counted AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(coalesce(octet_length(payload), 0) + coalesce(extra_bytes, 0)) FROM (SELECT workspace_id, payload, nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0) AS extra_bytes FROM judged WHERE is_stored) stored
  WHERE payload IS NOT NULL OR extra_bytes IS NOT NULL GROUP BY workspace_id
)
SELECT id, CASE WHEN is_stored THEN now()::timestamptz(3) END AS "createdAt",
       coalesce(execute_at, now())::timestamptz(3) AS "executeAt", clock_timestamp()::timestamptz(3) AS now
FROM judged
