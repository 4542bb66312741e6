-- The task in the payload of a callback, in its public form.
CREATE FUNCTION public_task(t tasks, r task_requests, u runs) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT row_to_json(shown) FROM (
    SELECT public_id('task', t.id) AS id, public_id('ws', t.workspace_id) AS workspace_id, r.name, t.source,
           public_id('cron', t.cron_job_id) AS cronjob_id, public_id('evt', t.event_id) AS event_id, r.topic,
           r.url, r.method, r.headers::json AS headers,
           CASE WHEN r.content_type IS NULL THEN r.payload::json END AS payload,
           CASE WHEN r.content_type IS NOT NULL THEN r.payload END AS payload_base64, r.content_type, r.queue,
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
           r.created_by, r.updated_by,
           public_time(t.created_at) AS created_at, public_time(t.updated_at) AS updated_at,
           public_time(t.finished_at) AS finished_at
  ) shown
$$;

-- The run in the payload of a callback, in its public form, with the response.
CREATE FUNCTION public_run(u runs, r task_requests) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT row_to_json(shown) FROM (
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
  ) shown
$$;

-- The payload of a callback: the task and its latest run, without references to secrets. An escaped brace is not part of a
-- reference, and two braces in a row occur only within the strings of a JSON text.
CREATE OR REPLACE FUNCTION callback_payload(t tasks, r task_requests) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  u runs;
  task json;
  run json;
BEGIN
  SELECT * INTO u FROM runs
  WHERE runs.task_id = t.id AND runs.id >= uuid_v7_floor(t.created_at) ORDER BY runs.id DESC LIMIT 1;
  task := public_task(t, r, u);
  run := CASE WHEN u.id IS NOT NULL THEN public_run(u, r) END;
  RETURN replace(row_to_json(payload)::text, '{{', '{\u007b') FROM (SELECT task, run) payload;
END
$$;
