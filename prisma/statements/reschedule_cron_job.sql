-- Gives a cron job a new rule, and voids the occurrences of the old one.
-- Sent by changeCronJob.

UPDATE cron_jobs SET cron = $2, next_run_at = $3, unreadable_since = $4, void_before = $5, updated_at = clock_timestamp() WHERE id = $1 RETURNING id, cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", catch_up AS "catchUp",
  paused_at AS "pausedAt", next_run_at AS "nextRunAt", qstash,
  coalesce(octet_length(payload), 0) + coalesce(nullif(greatest(coalesce(octet_length(name), 0) + coalesce(octet_length(url), 0) + coalesce(octet_length(headers), 0) + coalesce(octet_length(callbacks), 0) - 1024, 0), 0), 0) AS bytes
