-- Locks the cron jobs with an occurrence in the look-ahead that no other scheduler has locked.
-- Sent by expandCronJobs.

SELECT id, cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", catch_up AS "catchUp",
paused_at AS "pausedAt", next_run_at AS "nextRunAt", qstash,
coalesce(octet_length(payload), 0) + coalesce(nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0), 0) AS bytes FROM cron_jobs
WHERE next_run_at <= now() + $1 * interval '1 millisecond' AND id <> ALL ($3::uuid[])
  AND workspace_id <> ALL (ARRAY (SELECT s.id FROM suspended_workspaces s))
ORDER BY next_run_at LIMIT $2 FOR UPDATE SKIP LOCKED
