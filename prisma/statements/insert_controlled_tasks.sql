-- Stores tasks of which one or more have a deadline, a key, labels or a connection.
-- Sent by insertTasks.

WITH input AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[]::task_source[], $4::timestamptz[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::int2[], $16::text[]::backoff[], $17::int4[], $18::int4[], $19::int4[], $20::text[], $21::text[], $22::text[], $23::int2[], $24::timestamptz[], $25::int4[], $26::text[], $27::text[], $28::text[], $29::text[], $30::text[], $31::uuid[], $32::bool[], $33::bool[]) AS input (id, workspace_id, source, execute_at, event_id, replay_of, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent, created_by, depth, expires_at, max_age_ms, task_key, labels, retry_delays, qstash, connection, subscription_id, is_report, is_missed)),
judged AS MATERIALIZED (
  SELECT *, execute_at IS NULL OR execute_at > clock_timestamp() AS is_stored FROM input
),
inserted AS (
  INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, event_id, replay_of, has_callbacks, queue_id, expires_at, key, state, state_reason, finished_at)
  SELECT id, workspace_id, source, coalesce(execute_at, now()), coalesce(execute_at, now()), event_id, replay_of,
         callbacks IS NOT NULL, CASE WHEN queue IS NOT NULL THEN md5(workspace_id::text || ' ' || queue)::uuid END, coalesce(expires_at, coalesce(execute_at, now()) + max_age_ms * interval '1 millisecond'), task_key, CASE WHEN is_missed THEN 'dead' ELSE 'pending' END::task_state, CASE WHEN is_missed THEN 'subscription_off' END, CASE WHEN is_missed THEN now() END
  FROM judged WHERE is_stored
),
requested AS (
  INSERT INTO task_requests (task_id, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent, created_by, depth, labels, retry_delays, qstash, connection, subscription_id, is_report, extra_bytes)
  SELECT id, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent, created_by, depth, string_to_array(labels, ','), retry_delays, qstash, connection, subscription_id, is_report, nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0)
  FROM judged WHERE is_stored
),
counted AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(coalesce(octet_length(payload), 0) + coalesce(extra_bytes, 0)) FROM (SELECT workspace_id, payload, nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0) AS extra_bytes FROM judged WHERE is_stored) stored
  WHERE payload IS NOT NULL OR extra_bytes IS NOT NULL GROUP BY workspace_id
),
labelled AS (
  INSERT INTO task_labels (workspace_id, label, task_id)
  SELECT s.workspace_id, l.label, s.task_id FROM (SELECT workspace_id, id AS task_id, string_to_array(labels, ',') AS labels FROM judged WHERE is_stored) s CROSS JOIN LATERAL unnest(s.labels) AS l (label)
)
SELECT id, CASE WHEN is_stored THEN now()::timestamptz(3) END AS "createdAt",
       coalesce(execute_at, now())::timestamptz(3) AS "executeAt", clock_timestamp()::timestamptz(3) AS now
FROM judged
