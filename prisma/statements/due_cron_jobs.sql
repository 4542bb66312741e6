-- Locks the cron jobs with an occurrence in the look-ahead that no other scheduler has locked.
-- Sent by expandCronJobs.

SELECT id, cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", catch_up AS "catchUp",
paused_at AS "pausedAt", next_run_at AS "nextRunAt", qstash FROM cron_jobs
WHERE next_run_at <= now() + $1 * interval '1 millisecond' AND id <> ALL ($3::uuid[])
  AND workspace_id <> ALL (ARRAY (SELECT s.id FROM suspended_workspaces s))
ORDER BY next_run_at LIMIT $2 FOR UPDATE SKIP LOCKED
