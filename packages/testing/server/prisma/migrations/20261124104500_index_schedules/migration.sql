-- Few cron jobs are schedules of the QStash interface. With all of them in it, the planner may list the cron jobs of a
-- workspace along this index, and sort them.
DROP INDEX cron_jobs_workspace_id_qstash_id_key;
CREATE UNIQUE INDEX cron_jobs_workspace_id_qstash_id_key ON cron_jobs (workspace_id, qstash_id) WHERE qstash_id IS NOT NULL;
