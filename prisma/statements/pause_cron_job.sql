-- Pauses a cron job, and voids the tasks whose claim is undone later.
-- Sent by pauseCronJob.

UPDATE cron_jobs SET paused_at = coalesce(paused_at, clock_timestamp()), void_before = clock_timestamp(), next_run_at = NULL,
                     unreadable_since = NULL, updated_at = clock_timestamp()
WHERE id = $1
