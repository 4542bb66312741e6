-- Reads why tasks could not be claimed.
-- Sent by claimFromBlocks.

WITH input AS (SELECT * FROM unnest($1::uuid[], $2::text[]) AS input (id, token))
SELECT t.id AS "taskId", t.workspace_id AS "workspaceId", t.run_id AS "runId", t.attempts AS attempt, round(date_part('epoch', t.due_at) * 1000) AS "dueAt",
       CASE WHEN t.execute_at <> t.due_at OR t.lost > 0 OR num_nonnulls(CASE WHEN t.queue_id IS NOT NULL AND (SELECT (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL
       OR q.paused_at IS NOT NULL) FROM queues q WHERE q.id = t.queue_id) THEN t.queue_id END, NULL) > 0 THEN json_build_object('executeAt', round(date_part('epoch', t.execute_at) * 1000), 'lost', t.lost, 'queueId', CASE WHEN t.queue_id IS NOT NULL AND (SELECT (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL
       OR q.paused_at IS NOT NULL) FROM queues q WHERE q.id = t.queue_id) THEN t.queue_id END, 'refusal', NULL)::text END AS special, r.url, r.headers, r.payload,
         concat_ws(' ', r.method, r.max_retries, r.backoff, r.base_delay_ms, r.max_delay_ms, r.timeout_ms) AS policy,
         CASE WHEN num_nonnulls(r.content_type, r.retry_delays, r.qstash, r.connection, r.topic, r.traceparent, r.depth, r.subscription_id, r.is_report, t.cron_job_id, round(date_part('epoch', t.expires_at) * 1000)) > 0 THEN json_build_object('contentType', r.content_type, 'retryDelays', r.retry_delays, 'qstash', r.qstash, 'connection', r.connection, 'topic', r.topic, 'traceparent', r.traceparent, 'depth', r.depth, 'subscriptionId', r.subscription_id, 'isReport', r.is_report, 'cronJobId', t.cron_job_id, 'expiresAt', round(date_part('epoch', t.expires_at) * 1000))::text END AS rare, t.state, t.prefetched, t.quarantined, t.waits_for AS "waitsFor",
       extract(epoch FROM t.due_at - clock_timestamp())::float8 * 1000 AS "dueInMs", split_part(o.url, '/', 1) || '//' || split_part(split_part(o.url, '/', 3), '?', 1) AS origin,
       (t.cron_job_id IS NOT NULL OR t.expires_at IS NOT NULL OR t.key IS NOT NULL) AS "startsWithClaim", (t.expires_at IS NOT NULL AND t.expires_at <= clock_timestamp()) AS "isExpired"
FROM input JOIN tasks t ON t.id = input.id JOIN task_requests o ON o.task_id = input.id
LEFT JOIN task_requests r ON r.task_id = input.id AND right(t.run_id::text, 17) = right(input.token, 17)
