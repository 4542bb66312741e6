-- Reads why tasks could not be claimed.
-- Sent by claimFromBlocks.

WITH input AS (SELECT * FROM unnest($1::uuid[]) AS input (id))
SELECT t.id AS "taskId", t.state, NULL AS refusal, NULL AS "organizationId", t.run_id AS "runId", t.attempts AS attempt, t.lost, t.prefetched,
       t.quarantined, t.due_at AS "scheduledAt", uuid_v7_time(t.run_id) AS "claimedAt", t.workspace_id AS "workspaceId",
       t.cron_job_id AS "cronJobId", t.execute_at AS "executeAt", r.url AS "url", r.method AS "method", r.headers AS "headers", r.payload AS "payload", r.content_type AS "contentType", r.max_retries AS "maxRetries", r.backoff AS "backoff", r.base_delay_ms AS "baseDelayMs", r.max_delay_ms AS "maxDelayMs", r.retry_delays AS "retryDelays", r.timeout_ms AS "timeoutMs", r.qstash AS "qstash", r.connection AS "connection", r.topic AS "topic", r.traceparent AS "traceparent", r.depth AS "depth", r.subscription_id AS "subscriptionId", r.is_report AS "isReport",
       CASE WHEN t.queue_id IS NOT NULL THEN (SELECT (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL
       OR q.paused_at IS NOT NULL) FROM queues q WHERE q.id = t.queue_id) END AS "isQueued", t.waits_for AS "waitsFor",
       CASE WHEN t.queue_id IS NOT NULL AND (SELECT (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL
       OR q.paused_at IS NOT NULL) FROM queues q WHERE q.id = t.queue_id) THEN t.queue_id END AS "queueId",
       extract(epoch FROM t.due_at - clock_timestamp())::float8 * 1000 AS "dueInMs", split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1) AS origin,
       (t.cron_job_id IS NOT NULL OR t.expires_at IS NOT NULL OR t.key IS NOT NULL) AS "startsWithClaim", (t.expires_at IS NOT NULL AND t.expires_at <= clock_timestamp()) AS "isExpired"
FROM input JOIN tasks t ON t.id = input.id JOIN task_requests r ON r.task_id = input.id
