-- Cancels the tasks of a cron job that have not started.
-- Sent by pauseCronJob.

WITH cancelled AS (
  UPDATE tasks SET state = 'cancelled', state_reason = $2, finished_at = clock_timestamp(), updated_at = clock_timestamp()
  WHERE cron_job_id = $1 AND finished_at IS NULL
AND state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled')
  RETURNING occurrence_at, execute_at, waits_for
)
SELECT occurrence_at AS at FROM cancelled
WHERE waits_for <> 2 AND execute_at <= greatest(clock_timestamp(), occurrence_at + $3 * interval '1 millisecond')
ORDER BY occurrence_at
