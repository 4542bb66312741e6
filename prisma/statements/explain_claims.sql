-- Reads why tasks could not be claimed.
-- Sent by claimFromBlocks.

WITH input AS (SELECT * FROM unnest($1::uuid[], $2::text[]) AS input (id, token))
SELECT t.id AS "taskId", t.state, NULL AS refusal, NULL AS "organizationId", t.run_id AS "runId", t.attempts AS attempt, t.lost, t.prefetched,
       t.quarantined, t.due_at AS "scheduledAt", t.workspace_id AS "workspaceId", t.execute_at AS "executeAt", r.url AS "url", r.method AS "method", r.headers AS "headers", r.payload AS "payload", r.max_retries AS "maxRetries", r.backoff AS "backoff", r.base_delay_ms AS "baseDelayMs", r.max_delay_ms AS "maxDelayMs", r.timeout_ms AS "timeoutMs",
         CASE WHEN num_nonnulls(r.content_type, r.retry_delays, r.qstash, r.connection, r.topic, r.traceparent, r.depth, r.subscription_id, r.is_report, t.cron_job_id, extract(epoch FROM t.expires_at)::float8 * 1000) > 0 THEN json_build_object(
           'contentType', r.content_type, 'retryDelays', r.retry_delays, 'qstash', r.qstash, 'connection', r.connection, 'topic', r.topic, 'traceparent', r.traceparent, 'depth', r.depth, 'subscriptionId', r.subscription_id, 'isReport', r.is_report, 'cronJobId', t.cron_job_id, 'expiresAt', extract(epoch FROM t.expires_at)::float8 * 1000)::text END AS rare,
       CASE WHEN t.queue_id IS NOT NULL THEN (SELECT (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL
       OR q.paused_at IS NOT NULL) FROM queues q WHERE q.id = t.queue_id) END AS "isQueued", t.waits_for AS "waitsFor",
       CASE WHEN t.queue_id IS NOT NULL AND (SELECT (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL
       OR q.paused_at IS NOT NULL) FROM queues q WHERE q.id = t.queue_id) THEN t.queue_id END AS "queueId",
       extract(epoch FROM t.due_at - clock_timestamp())::float8 * 1000 AS "dueInMs", split_part(o.url, '/', 1) || '//' || split_part(split_part(o.url, '/', 3), '?', 1) AS origin,
       (t.cron_job_id IS NOT NULL OR t.expires_at IS NOT NULL OR t.key IS NOT NULL) AS "startsWithClaim", (t.expires_at IS NOT NULL AND t.expires_at <= clock_timestamp()) AS "isExpired"
FROM input JOIN tasks t ON t.id = input.id JOIN task_requests o ON o.task_id = input.id
LEFT JOIN task_requests r ON r.task_id = input.id AND right(t.run_id::text, 17) = right(input.token, 17)
