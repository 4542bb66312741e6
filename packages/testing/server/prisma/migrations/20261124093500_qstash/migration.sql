-- What a message of the QStash interface has beyond a task, as a JSON object; null for every other task.
ALTER TABLE task_requests ADD COLUMN qstash text;
-- The same for the messages of a schedule, and the id of the schedule, which its user may choose.
ALTER TABLE cron_jobs ADD COLUMN qstash text, ADD COLUMN qstash_id text;
CREATE UNIQUE INDEX cron_jobs_workspace_id_qstash_id_key ON cron_jobs (workspace_id, qstash_id);
-- The name of an endpoint of a URL group.
ALTER TABLE subscriptions ADD COLUMN endpoint_name text;
-- Limits that messages do not change.
ALTER TABLE queues ADD COLUMN pinned_concurrency boolean NOT NULL DEFAULT false,
                   ADD COLUMN pinned_rate boolean NOT NULL DEFAULT false;

-- The keys of Upstash-Signature. A rotation makes the next key the current one.
CREATE TABLE qstash_signing_keys (
  workspace_id uuid PRIMARY KEY,
  current_id uuid NOT NULL,
  sealed_current bytea NOT NULL,
  next_id uuid NOT NULL,
  sealed_next bytea NOT NULL,
  key_version integer NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);

-- The messages that a later message with the same deduplication id or the same content repeats.
CREATE TABLE qstash_deduplications (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  hash bytea NOT NULL,
  task_id uuid NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (workspace_id, hash)
);
CREATE INDEX qstash_deduplications_expires_at_idx ON qstash_deduplications (expires_at);

-- Header values as lists.
CREATE FUNCTION qstash_header(headers json) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(json_object_agg(key, CASE json_typeof(value) WHEN 'array' THEN value ELSE json_build_array(value) END), '{}')
  FROM json_each(headers)
$$;

-- The body of a callback in the form of QStash. Without references to secrets, as callback_payload.
CREATE FUNCTION qstash_callback_payload(t tasks, r task_requests, event text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  u runs;
  q json := r.qstash::json;
  body json;
BEGIN
  SELECT * INTO u FROM runs
  WHERE runs.task_id = t.id AND runs.id >= uuid_v7_floor(t.created_at) ORDER BY runs.id DESC LIMIT 1;
  SELECT json_strip_nulls(row_to_json(shown)) INTO body FROM (
    SELECT coalesce(u.response_status, 0) AS status, qstash_header(coalesce(u.response_headers, '{}')::json) AS header,
           translate(encode(coalesce(u.response_body, convert_to(coalesce(u.error_message, ''), 'UTF8')), 'base64'), E'\n', '') AS body,
           greatest(t.attempts - t.lost - 1, 0) AS retried, r.max_retries AS "maxRetries",
           public_id('msg', t.id) AS "sourceMessageId", q ->> 'topicName' AS "topicName",
           q ->> 'endpointName' AS "endpointName", r.url, r.method,
           qstash_header((r.headers::jsonb || CASE WHEN r.content_type IS NULL THEN '{}'
                                                   ELSE jsonb_build_object('Content-Type', r.content_type) END)::json) AS "sourceHeader",
           CASE WHEN r.content_type IS NOT NULL THEN r.payload
                ELSE translate(encode(convert_to(coalesce(r.payload, ''), 'UTF8'), 'base64'), E'\n', '') END AS "sourceBody",
           (extract(epoch FROM t.execute_at) * 1000)::bigint AS "notBefore",
           (extract(epoch FROM t.created_at) * 1000)::bigint AS "createdAt", q ->> 'scheduleId' AS "scheduleId",
           q ->> 'callerIP' AS "callerIP",
           CASE WHEN event = 'on_failure' THEN public_id('dlq', t.id) END AS "dlqId"
  ) shown;
  RETURN replace(body::text, '{{', '{\u007b');
END
$$;

-- As in 20261124062500, with the callbacks of messages of the QStash interface: their body, their method and their delay,
-- and that they are messages too.
CREATE OR REPLACE FUNCTION store_callbacks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- An undone claim has no run. A lost attempt ends a second time when its real outcome arrives.
  attempt_ended boolean := coalesce(NEW.run_id = OLD.run_id
    AND (OLD.state = 'processing' OR OLD.quarantined AND NEW.state_reason IS NULL), false);
BEGIN
  WITH called AS MATERIALIZED (
    SELECT uuid_v7(clock_timestamp()) AS id, callback, callback -> 'retry' AS retry,
           left(event || ' of ' || r.name, 200) AS name, r.traceparent, r.depth,
           CASE WHEN r.qstash IS NULL THEN callback_payload(NEW, r) ELSE qstash_callback_payload(NEW, r, event) END AS payload,
           r.qstash::json #> ARRAY['callbacks', event] AS qstash
    FROM task_requests r CROSS JOIN json_each(r.callbacks::json) AS c (event, callback)
    WHERE r.task_id = NEW.id AND CASE event WHEN 'on_attempt' THEN attempt_ended
                                            WHEN 'on_success' THEN NEW.state = 'success'
                                            WHEN 'on_failure' THEN NEW.state = 'dead' END
  ),
  timed AS MATERIALIZED (
    SELECT id, clock_timestamp() + coalesce((qstash ->> 'delayMs')::bigint, 0) * interval '1 millisecond' AS at FROM called
  ),
  inserted AS (
    INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, callback_of)
    SELECT id, NEW.workspace_id, 'callback', at, at, NEW.id FROM timed
  ),
  requested AS (
    INSERT INTO task_requests (task_id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms,
                               max_delay_ms, timeout_ms, traceparent, depth, qstash)
    SELECT id, name, callback ->> 'url', coalesce(qstash ->> 'method', 'POST'), callback ->> 'headers', payload,
           (retry ->> 'max_retries')::smallint,
           (retry ->> 'backoff')::backoff, (retry ->> 'base_delay_ms')::integer, (retry ->> 'max_delay_ms')::integer,
           (callback ->> 'timeout_ms')::integer, traceparent, depth, qstash ->> 'message'
    FROM called
  )
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT NEW.workspace_id, sum(octet_length(payload)) FROM called HAVING count(*) > 0;
  RETURN NULL;
END
$$;
