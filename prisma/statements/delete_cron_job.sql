-- Deletes a cron job, after its unstarted tasks are cancelled.
-- Sent by deleteCronJob.

DELETE FROM cron_jobs WHERE id = $1
