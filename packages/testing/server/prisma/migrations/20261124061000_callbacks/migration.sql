ALTER TYPE task_source ADD VALUE 'callback';

-- has_callbacks keeps the trigger below from reading the request of a task without callbacks.
ALTER TABLE tasks ADD COLUMN has_callbacks boolean NOT NULL DEFAULT false, ADD COLUMN callback_of uuid;
ALTER TABLE task_requests ADD COLUMN callbacks text, ADD COLUMN content_type text;
ALTER TABLE cron_jobs ADD COLUMN callbacks text, ADD COLUMN content_type text;
ALTER TABLE subscriptions ADD COLUMN callbacks text;

-- The public form of an id, as `toId` in packages/domain writes it.
CREATE FUNCTION public_id(kind text, id uuid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT kind || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM i * 5 + 1 FOR 5)::integer + 1, 1), '' ORDER BY i)
  FROM (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) given, generate_series(0, 25) AS i
$$;

-- The public form of a time.
CREATE FUNCTION public_time(at timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The text of a body, or null when it is not UTF-8. A truncated body may end within a character, with at most three of its
-- bytes.
CREATE FUNCTION body_text(body bytea, is_truncated boolean) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  FOR missing IN 0 .. CASE WHEN is_truncated THEN least(3, octet_length(body)) ELSE 0 END LOOP
    BEGIN
      RETURN convert_from(substring(body FROM 1 FOR octet_length(body) - missing), 'UTF8');
    EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
      NULL;
    END;
  END LOOP;
  RETURN NULL;
END
$$;

-- The payload of a callback: the task and its latest run in their public form, without references to secrets. An escaped
-- brace is not part of a reference, and two braces in a row occur only within the strings of a JSON text.
CREATE FUNCTION callback_payload(t tasks, r task_requests) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  u runs;
  task json;
  run json;
BEGIN
  SELECT * INTO u FROM runs
  WHERE runs.task_id = t.id AND runs.id >= uuid_v7_floor(t.created_at) ORDER BY runs.id DESC LIMIT 1;
  SELECT row_to_json(shown) INTO task FROM (
    SELECT public_id('task', t.id) AS id, public_id('ws', t.workspace_id) AS workspace_id, r.name, t.source,
           public_id('cron', t.cron_job_id) AS cronjob_id, public_id('evt', t.event_id) AS event_id, r.topic,
           r.url, r.method, r.headers::json AS headers,
           CASE WHEN r.content_type IS NULL THEN r.payload::json END AS payload,
           CASE WHEN r.content_type IS NOT NULL THEN r.payload END AS payload_base64, r.content_type,
           public_time(t.execute_at) AS execute_at, t.state, t.state_reason, t.attempts, NULL AS blocked,
           json_build_object('max_retries', r.max_retries, 'backoff', r.backoff, 'base_delay_ms', r.base_delay_ms,
                             'max_delay_ms', r.max_delay_ms) AS retry,
           r.timeout_ms, CASE WHEN t.state = 'retrying' THEN public_time(t.due_at) END AS next_retry_at,
           CASE WHEN u.id IS NOT NULL THEN json_build_object(
             'id', public_id('run', u.id), 'status', u.status, 'response_status', u.response_status,
             'error_code', u.error_code, 'finished_at', public_time(u.finished_at)) END AS last_run,
           r.callbacks::json -> 'on_success' AS on_success, r.callbacks::json -> 'on_failure' AS on_failure,
           r.callbacks::json -> 'on_attempt' AS on_attempt,
           public_id('task', t.callback_of) AS callback_of, public_id('task', t.replay_of) AS replay_of,
           public_time(t.created_at) AS created_at, public_time(t.updated_at) AS updated_at,
           public_time(t.finished_at) AS finished_at
  ) shown;
  IF u.id IS NOT NULL THEN
    SELECT row_to_json(shown) INTO run FROM (
      SELECT public_id('run', u.id) AS id, public_id('ws', u.workspace_id) AS workspace_id,
             public_id('task', u.task_id) AS task_id, r.name AS task_name, u.source,
             public_id('cron', u.cron_job_id) AS cronjob_id, u.topic, u.attempt, u.status,
             public_time(u.scheduled_at) AS scheduled_at, public_time(u.started_at) AS started_at,
             public_time(u.finished_at) AS finished_at,
             round(extract(epoch FROM u.finished_at - u.started_at) * 1000)::bigint AS duration_ms,
             round(extract(epoch FROM u.started_at - u.scheduled_at) * 1000)::bigint AS lag_ms,
             r.url, r.method, u.response_status,
             CASE WHEN u.error_code IS NOT NULL THEN
               json_build_object('code', u.error_code, 'message', coalesce(u.error_message, '')) END AS error,
             CASE WHEN u.response_status IS NOT NULL THEN (
               SELECT row_to_json(response) FROM (
                 SELECT u.response_status AS status, coalesce(u.response_headers, '{}')::json AS headers,
                        text AS body,
                        CASE WHEN text IS NULL THEN translate(encode(u.response_body, 'base64'), E'\n', '') END AS body_base64,
                        coalesce(u.response_bytes, octet_length(u.response_body), 0) AS body_bytes,
                        u.response_truncated AS body_truncated
                 FROM body_text(coalesce(u.response_body, ''), u.response_truncated) AS text
               ) response
             ) END AS response
    ) shown;
  END IF;
  RETURN replace(row_to_json(payload)::text, '{{', '{\u007b') FROM (SELECT task, run) payload;
END
$$;

-- Stores the callbacks of a task in the statement that ends its attempt, or that makes it dead without one. Each is a task
-- of its own, due at once, and has no callbacks.
CREATE FUNCTION store_callbacks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- An undone claim has no run. A lost attempt ends a second time when its real outcome arrives.
  attempt_ended boolean := coalesce(NEW.run_id = OLD.run_id
    AND (OLD.state = 'processing' OR OLD.quarantined AND NEW.state_reason IS NULL), false);
BEGIN
  WITH called AS MATERIALIZED (
    SELECT uuid_v7(clock_timestamp()) AS id, callback, callback -> 'retry' AS retry,
           left(event || ' of ' || r.name, 200) AS name, r.traceparent, callback_payload(NEW, r) AS payload
    FROM task_requests r CROSS JOIN json_each(r.callbacks::json) AS c (event, callback)
    WHERE r.task_id = NEW.id AND CASE event WHEN 'on_attempt' THEN attempt_ended
                                            WHEN 'on_success' THEN NEW.state = 'success'
                                            WHEN 'on_failure' THEN NEW.state = 'dead' END
  ),
  inserted AS (
    INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, callback_of)
    SELECT id, NEW.workspace_id, 'callback', clock_timestamp(), clock_timestamp(), NEW.id FROM called
  ),
  requested AS (
    INSERT INTO task_requests (task_id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms,
                               max_delay_ms, timeout_ms, traceparent)
    SELECT id, name, callback ->> 'url', 'POST', callback ->> 'headers', payload, (retry ->> 'max_retries')::smallint,
           (retry ->> 'backoff')::backoff, (retry ->> 'base_delay_ms')::integer, (retry ->> 'max_delay_ms')::integer,
           (callback ->> 'timeout_ms')::integer, traceparent
    FROM called
  )
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT NEW.workspace_id, sum(octet_length(payload)) FROM called HAVING count(*) > 0;
  RETURN NULL;
END
$$;

CREATE TRIGGER store_callbacks AFTER UPDATE OF state ON tasks FOR EACH ROW
  WHEN (NEW.has_callbacks AND NEW.state IN ('success', 'dead', 'retrying') AND OLD.state IN ('processing', 'pending', 'retrying')
        AND (OLD.state = 'processing' OR OLD.quarantined OR NEW.state = 'dead'))
  EXECUTE FUNCTION store_callbacks();
