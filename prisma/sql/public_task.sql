-- The task in the payload of a callback, in its public form.
CREATE OR REPLACE FUNCTION public_task(t tasks, r task_requests, u runs) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT row_to_json(shown) FROM (
    SELECT public_id('task', t.id) AS id, public_id('ws', t.workspace_id) AS workspace_id, r.name, t.source,
           public_id('cron', t.cron_job_id) AS cronjob_id, public_id('evt', t.event_id) AS event_id, r.topic,
           r.url, r.method, r.headers::json AS headers,
           CASE WHEN r.content_type IS NULL THEN r.payload::json END AS payload,
           CASE WHEN r.content_type IS NOT NULL THEN r.payload END AS payload_base64, r.content_type, r.queue, r.connection,
           public_time(t.execute_at) AS execute_at, t.state, t.state_reason, t.attempts, NULL AS blocked,
           public_time(t.expires_at) AS expires_at, t.key, coalesce(r.labels, '{}') AS labels,
           CASE WHEN r.retry_delays IS NOT NULL THEN json_build_object('delays_ms', r.retry_delays::json)
                ELSE json_build_object('max_retries', r.max_retries, 'backoff', r.backoff, 'base_delay_ms', r.base_delay_ms,
                                       'max_delay_ms', r.max_delay_ms) END AS retry,
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
