-- Locks a cron job, so no scheduler expands it.
-- Sent by pauseCronJob.

SELECT id, cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", catch_up AS "catchUp",
paused_at AS "pausedAt", next_run_at AS "nextRunAt", qstash,
coalesce(octet_length(payload), 0) + coalesce(nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0), 0) AS bytes, name, ARRAY (SELECT DISTINCT queue_id FROM tasks WHERE cron_job_id = $1 AND finished_at IS NULL AND queue_id IS NOT NULL) AS queues
FROM cron_jobs WHERE id = $1 AND workspace_id = $2 FOR UPDATE
