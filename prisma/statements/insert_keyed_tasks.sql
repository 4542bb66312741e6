-- Stores tasks together with the responses to their Idempotency-Keys.
-- Sent by insertKeyedTasks.

WITH input AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[]::task_source[], $4::timestamptz[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::int2[], $16::text[]::backoff[], $17::int4[], $18::int4[], $19::int4[], $20::text[], $21::text[], $22::text[], $23::int2[], $24::int8[], $25::text[], $26::bytea[], $27::int2[], $28::text[], $29::text[]) AS input (id, workspace_id, source, execute_at, event_id, replay_of, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent, created_by, depth, lock, key, request_hash, status, location, answer)),
judged AS MATERIALIZED (
  SELECT *, CASE WHEN execute_at IS NULL OR execute_at > clock_timestamp()
                 THEN pg_try_advisory_xact_lock(lock) ELSE false END AS is_first
  FROM input
),
kept AS (
  INSERT INTO idempotency_keys (workspace_id, key, request_hash, status, location, answer)
  SELECT workspace_id, key, request_hash, status, location,
         replace(answer, $30::text,
                 to_char(now()::timestamptz(3) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  FROM judged WHERE is_first
  ON CONFLICT (workspace_id, key) DO UPDATE
  SET request_hash = excluded.request_hash, status = excluded.status, location = excluded.location,
      answer = excluded.answer, created_at = excluded.created_at
  WHERE idempotency_keys.created_at <= now() - interval '24 hours'
  RETURNING workspace_id, key
),
stored AS MATERIALIZED (SELECT judged.* FROM judged JOIN kept USING (workspace_id, key) WHERE is_first),
inserted AS (
  INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, event_id, replay_of, has_callbacks, queue_id)
  SELECT id, workspace_id, source, coalesce(execute_at, now()), coalesce(execute_at, now()), event_id, replay_of,
         callbacks IS NOT NULL, CASE WHEN queue IS NOT NULL THEN md5(workspace_id::text || ' ' || queue)::uuid END
  FROM stored
),
requested AS (
  INSERT INTO task_requests (task_id, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent, created_by, depth, extra_bytes)
  SELECT id, name, url, method, headers, payload, content_type, callbacks, queue, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent, created_by, depth, nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0)
  FROM stored
),
counted AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(coalesce(octet_length(payload), 0) + coalesce(extra_bytes, 0)) FROM (SELECT workspace_id, payload, nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0) AS extra_bytes FROM stored) stored
  WHERE payload IS NOT NULL OR extra_bytes IS NOT NULL GROUP BY workspace_id
)
SELECT judged.id, CASE WHEN stored.id IS NOT NULL THEN now()::timestamptz(3) END AS "createdAt",
       coalesce(judged.execute_at, now())::timestamptz(3) AS "executeAt", clock_timestamp()::timestamptz(3) AS now
FROM judged LEFT JOIN stored ON stored.id = judged.id
