-- The run in the payload of a callback, in its public form, with the response.
CREATE OR REPLACE FUNCTION public_run(u runs, r task_requests) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT row_to_json(shown) FROM (
    SELECT public_id('run', u.id) AS id, public_id('ws', u.workspace_id) AS workspace_id,
           public_id('task', u.task_id) AS task_id, r.name AS task_name, u.source,
           public_id('cron', u.cron_job_id) AS cronjob_id, u.topic, u.attempt, u.status,
           public_time(u.scheduled_at) AS scheduled_at, public_time(u.started_at) AS started_at,
           public_time(u.finished_at) AS finished_at,
           round(extract(epoch FROM u.finished_at - u.started_at) * 1000)::bigint AS duration_ms,
           round(extract(epoch FROM u.started_at - u.scheduled_at) * 1000)::bigint AS lag_ms, u.waited_for,
           CASE WHEN u.timings IS NOT NULL THEN
             json_build_object('dns_ms', u.timings::json -> 0, 'connect_ms', u.timings::json -> 1, 'tls_ms', u.timings::json -> 2,
                               'first_byte_ms', u.timings::json -> 3) END AS timings,
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
