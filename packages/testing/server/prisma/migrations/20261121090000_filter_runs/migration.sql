-- What the log is filtered by stands in the run itself: a filter may not cost a join for each run that it passes over.
ALTER TABLE runs ADD COLUMN cron_job_id uuid, ADD COLUMN topic text;

UPDATE runs SET cron_job_id = tasks.cron_job_id FROM tasks WHERE runs.source = 'cron' AND tasks.id = runs.task_id;
UPDATE runs SET topic = task_requests.topic FROM task_requests
  WHERE runs.source = 'event' AND task_requests.task_id = runs.task_id;

-- Partial: the run of a task that succeeds pays for none of them.
CREATE INDEX runs_workspace_id_cron_job_id_id_idx ON runs (workspace_id, cron_job_id, id) WHERE cron_job_id IS NOT NULL;
CREATE INDEX runs_workspace_id_topic_id_idx ON runs (workspace_id, topic, id) WHERE topic IS NOT NULL;
-- The status leads the id in its order, so that no other index can stand in for it.
CREATE INDEX runs_failed_idx ON runs (workspace_id, status, id) WHERE status >= 'failed';
DROP INDEX runs_workspace_id_status_id_idx;
