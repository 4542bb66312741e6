-- Moves cron jobs to their next occurrences, in the transaction that stores the earlier ones.
-- Sent by expandCronJobs.

UPDATE cron_jobs j SET next_run_at = i.next, unreadable_since = NULL
FROM unnest($1::uuid[], $2::timestamptz[]) AS i (id, next) WHERE j.id = i.id
