-- The body of a callback in the form of QStash, without references to secrets, as in callback_payload.
CREATE OR REPLACE FUNCTION qstash_callback_payload(t tasks, r task_requests, event text) RETURNS text LANGUAGE plpgsql STABLE AS $$
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
