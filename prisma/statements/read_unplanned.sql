-- Reads the cron jobs whose passed occurrences are not all stored, to count those that will run.
-- Sent by cancelMissed.

SELECT id, cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", catch_up AS "catchUp",
paused_at AS "pausedAt", next_run_at AS "nextRunAt", qstash,
coalesce(octet_length(payload), 0) + coalesce(nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0), 0) AS bytes FROM cron_jobs
WHERE id IN (SELECT id FROM cron_jobs WHERE id > $2 ORDER BY id LIMIT $3) AND catch_up <> 'none' AND next_run_at < $1
