-- Claims due tasks of queues with limits, and blocks those that have no permit.
-- Sent by claimFromBlocks.

WITH input AS (SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bool[]) AS input (id, token, origin, is_prefetch)),
candidates AS (
  SELECT t.ctid AS place, t.id, t.workspace_id, t.execute_at, t.due_at AS scheduled_at,
         t.state = 'pending' AS is_first, input.token, input.is_prefetch, t.lost, r.timeout_ms, r.url, r.headers, r.payload,
         concat_ws(' ', r.method, r.max_retries, r.backoff, r.base_delay_ms, r.max_delay_ms, r.timeout_ms) AS policy,
         CASE WHEN num_nonnulls(r.content_type, r.retry_delays, r.qstash, r.connection, r.topic, r.traceparent, r.depth, r.subscription_id, r.is_report, t.cron_job_id, round(date_part('epoch', t.expires_at) * 1000)) > 0 THEN json_build_object('contentType', r.content_type, 'retryDelays', r.retry_delays, 'qstash', r.qstash, 'connection', r.connection, 'topic', r.topic, 'traceparent', r.traceparent, 'depth', r.depth, 'subscriptionId', r.subscription_id, 'isReport', r.is_report, 'cronJobId', t.cron_job_id, 'expiresAt', round(date_part('epoch', t.expires_at) * 1000))::text END AS rare,
  CASE WHEN t.cron_job_id IS NOT NULL AND t.state = 'pending' AND t.replay_of IS NULL THEN (
    SELECT CASE
      WHEN j.id IS NULL THEN 'cronjob_deleted'
      WHEN j.paused_at > t.created_at THEN 'cronjob_paused'
      WHEN t.occurrence_at IS NOT NULL AND j.void_before > t.created_at THEN 'cronjob_changed'
      WHEN t.occurrence_at IS NOT NULL AND j.overlap = 'skip' AND EXISTS (
        SELECT FROM tasks o
        WHERE o.cron_job_id = t.cron_job_id AND o.finished_at IS NULL
          AND (o.execute_at, o.id) < (t.execute_at, t.id)
          AND o.waits_for <> 2
      ) THEN 'overlap_skipped' END
    FROM (SELECT) one LEFT JOIN cron_jobs j ON j.id = t.cron_job_id
  ) END AS own_refusal, t.queue_id
  FROM input JOIN tasks t ON t.id = input.id JOIN task_requests r ON r.task_id = input.id
  WHERE t.state NOT IN ('processing', 'success', 'dead', 'cancelled') AND t.waits_for = 0 AND t.due_at <= clock_timestamp()
    AND (input.origin IS NULL OR split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1) = input.origin)
    AND t.quarantined = $9::boolean AND NOT (input.is_prefetch AND (t.cron_job_id IS NOT NULL OR t.expires_at IS NOT NULL OR t.key IS NOT NULL))
    AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp())
  FOR UPDATE OF t SKIP LOCKED
),
locks AS MATERIALIZED (
  SELECT * FROM lock_queues(ARRAY (SELECT DISTINCT queue_id FROM candidates WHERE queue_id IS NOT NULL))
),
-- A queue that was deleted has no lock, and no limit.
eligible AS (
  SELECT c.*, l.permits, coalesce(l.is_rated, false) AS is_rated,
         l.queue_id IS NULL OR (
           l.permits IS DISTINCT FROM 0 AND (NOT l.is_ordered OR c.id = l.head)
           AND (l.blocked_id IS NULL OR (c.execute_at, c.id) < (l.blocked_at, l.blocked_id))
         ) AS is_eligible
  FROM candidates c LEFT JOIN locks l ON l.queue_id = c.queue_id
),
placed AS MATERIALIZED (
  SELECT e.*, is_eligible AND (permits IS NULL OR
           row_number() OVER (PARTITION BY queue_id, is_eligible ORDER BY execute_at, id) <= permits) AS may_start
  FROM eligible e
),
ready AS (SELECT * FROM placed WHERE may_start),
blocked AS (
  UPDATE tasks t SET waits_for = 1 FROM placed p
  WHERE t.ctid = p.place AND NOT p.may_start
  RETURNING t.id, t.queue_id
),
full_queues AS (
  SELECT l.queue_id, l.head FROM locks l
  WHERE EXISTS (SELECT FROM placed p WHERE p.queue_id = l.queue_id AND NOT p.may_start)
    AND (l.is_ordered OR l.permits <= (SELECT count(*) FROM placed p WHERE p.queue_id = l.queue_id AND p.may_start))
),
also_blocked AS (
  UPDATE tasks t SET waits_for = 1
  FROM full_queues f CROSS JOIN LATERAL (
    SELECT o.id FROM tasks o
    WHERE o.queue_id = f.queue_id AND o.finished_at IS NULL AND queue_phase(o.state, o.waits_for) = 0
      AND o.execute_at <= clock_timestamp() AND o.due_at <= clock_timestamp() AND o.id IS DISTINCT FROM f.head
      AND o.id <> ALL (ARRAY (SELECT p.id FROM placed p))
    ORDER BY o.execute_at, o.id LIMIT 500 FOR UPDATE SKIP LOCKED
  ) other
  WHERE t.id = other.id
),
starting AS (
  SELECT n.workspace_id, w.organization_id, w.deleted_at IS NOT NULL AS is_deleted,
         l.executions AS execution_limit, coalesce(s.bytes > l.storage_bytes, false) AS is_full,
         sum(n.tasks) FILTER (WHERE w.deleted_at IS NULL) OVER (PARTITION BY w.organization_id) AS wanted
  FROM (
    SELECT workspace_id, (count(*) FILTER (WHERE is_first AND own_refusal IS NULL))::int AS tasks
    FROM ready GROUP BY workspace_id
  ) n
  JOIN workspaces w ON w.id = n.workspace_id JOIN organizations o ON o.id = w.organization_id
  JOIN unnest($5::text[], $6::bigint[], $7::bigint[]) AS l (tier, executions, storage_bytes) ON l.tier = o.tier
  LEFT JOIN storage s ON s.organization_id = o.id
),
short AS (
  SELECT s.workspace_id, s.organization_id, s.is_deleted, s.is_full, b.unspent
  FROM starting s LEFT JOIN LATERAL (
    SELECT unspent FROM execution_blocks
    WHERE month = utc_month(now()) AND organization_id = s.organization_id AND dispatcher_id = $8::uuid
      AND execution_limit = s.execution_limit AND s.wanted > 0
    FOR UPDATE SKIP LOCKED
  ) b ON true
  WHERE s.is_deleted OR s.is_full OR coalesce(b.unspent, 0) < s.wanted
),
-- Nearly always empty. LATERAL reads nothing in that case; MATERIALIZED evaluates it once.
refused AS MATERIALIZED (
  SELECT id, organization_id,
         CASE WHEN is_deleted THEN 'workspace_deleted' WHEN is_full THEN 'storage_quota'
              WHEN $10::boolean AND unspent IS NOT NULL THEN 'monthly_execution_limit' ELSE 'short' END AS reason
  FROM (
    SELECT r.id, s.organization_id, s.is_deleted, s.is_full, s.unspent,
           row_number() OVER (PARTITION BY s.organization_id, s.is_deleted ORDER BY r.scheduled_at, r.id) AS place
    FROM short s CROSS JOIN LATERAL (
      SELECT id, scheduled_at FROM ready
      WHERE workspace_id = s.workspace_id AND (s.is_deleted OR is_first AND own_refusal IS NULL) OFFSET 0
    ) r
  ) candidates
  WHERE is_deleted OR is_full OR place > coalesce(unspent, 0)
),
decided AS (
  SELECT ready.*, coalesce(refused.reason, own_refusal) AS refusal
  FROM ready LEFT JOIN refused ON refused.id = ready.id
  WHERE refused.reason IS DISTINCT FROM 'short'
),
-- The first 48 bits of a UUIDv7. No function of our own, because PostgreSQL would parse and plan its body each time.
-- A refund goes to the month of the run's id, so a statement claims nothing when a month begins while it runs.
start AS MATERIALIZED (
  SELECT at, lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS instant
  FROM (SELECT clock_timestamp()::timestamptz(3) AS at FROM (SELECT count(*) FROM locks) locked OFFSET 0) clock WHERE utc_month(at) = utc_month(now())
),
claimed AS (
  UPDATE tasks t
  SET state = CASE WHEN refusal IS NULL THEN 'processing' ELSE 'cancelled' END::task_state, updated_at = now(),
      state_reason = refusal,
      finished_at = CASE WHEN refusal IS NOT NULL THEN now() END,
      attempts = CASE WHEN refusal IS NULL THEN t.attempts + 1 ELSE t.attempts END,
      run_id = CASE WHEN refusal IS NULL THEN
        (start.instant || '-7' || substr(d.token, 16))::uuid ELSE t.run_id END,
      dispatcher_id = CASE WHEN refusal IS NULL THEN $8::uuid END,
      prefetched = refusal IS NULL AND d.is_prefetch,
      lease_until = CASE WHEN refusal IS NULL THEN
        clock_timestamp() + (d.timeout_ms + 15000) * interval '1 millisecond' END
  FROM start CROSS JOIN decided d WHERE t.ctid = d.place
  RETURNING d.*, t.state, t.run_id, t.attempts, start.at AS claimed_at
),
started AS (
  SELECT workspace_id, count(*)::int AS tasks FROM claimed WHERE is_first AND state = 'processing' GROUP BY workspace_id
),
changed AS (INSERT INTO usage_changes (workspace_id, executions) SELECT workspace_id, tasks FROM started),
spent AS (
  UPDATE execution_blocks b SET unspent = b.unspent - n.tasks
  FROM (
    SELECT w.organization_id, sum(tasks) AS tasks FROM started JOIN workspaces w ON w.id = workspace_id
    GROUP BY w.organization_id
  ) n
  WHERE b.month = utc_month(now()) AND b.organization_id = n.organization_id AND b.dispatcher_id = $8::uuid
),
counted AS (
  INSERT INTO queue_starts (queue_id, at, starts)
  SELECT queue_id, claimed_at, count(*) FROM claimed WHERE is_rated AND state = 'processing' GROUP BY 1, 2
)
SELECT id AS "taskId", workspace_id AS "workspaceId", run_id AS "runId", attempts AS attempt, round(date_part('epoch', scheduled_at) * 1000) AS "dueAt",
       CASE WHEN execute_at <> scheduled_at OR lost > 0 OR num_nonnulls(CASE WHEN permits IS NOT NULL OR is_rated THEN queue_id END, refusal) > 0 THEN json_build_object('executeAt', round(date_part('epoch', execute_at) * 1000), 'lost', lost, 'queueId', CASE WHEN permits IS NOT NULL OR is_rated THEN queue_id END, 'refusal', refusal)::text END AS special, url, headers, payload, policy, rare
FROM claimed
UNION ALL
SELECT id, NULL, NULL, NULL, NULL, json_build_object('organizationId', organization_id)::text, NULL, NULL, NULL, NULL, NULL
FROM refused WHERE reason = 'short'
UNION ALL
SELECT id, NULL, NULL, NULL, NULL, json_build_object('refusal', 'blocked', 'queueId', queue_id)::text, NULL, NULL, NULL, NULL, NULL FROM (SELECT id, queue_id FROM blocked) blocked
