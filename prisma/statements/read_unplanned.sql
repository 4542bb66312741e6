-- Reads the cron jobs whose passed occurrences are not all stored, to count those that will run.
-- Sent by cancelMissed.

SELECT id, cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", catch_up AS "catchUp",
paused_at AS "pausedAt", next_run_at AS "nextRunAt", qstash FROM cron_jobs
WHERE id IN (SELECT id FROM cron_jobs WHERE id > $2 ORDER BY id LIMIT $3) AND catch_up <> 'none' AND next_run_at < $1
