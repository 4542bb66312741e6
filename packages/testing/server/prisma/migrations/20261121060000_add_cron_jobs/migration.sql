CREATE TYPE cron_overlap AS ENUM ('allow', 'skip');
CREATE TYPE cron_catch_up AS ENUM ('latest', 'all', 'none');

-- Each occurrence moves next_run_at, so the rows keep room on their pages.
CREATE TABLE cron_jobs (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name text NOT NULL,
  cron text NOT NULL,
  timezone text NOT NULL,
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  overlap cron_overlap NOT NULL,
  catch_up cron_catch_up NOT NULL,
  paused_at timestamptz(3),
  next_run_at timestamptz(3),
  url text NOT NULL,
  method text NOT NULL,
  headers text NOT NULL DEFAULT '{}',
  payload text,
  max_retries smallint NOT NULL,
  backoff backoff NOT NULL,
  base_delay_ms integer NOT NULL,
  max_delay_ms integer NOT NULL,
  timeout_ms integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX cron_jobs_workspace_id_id_idx ON cron_jobs (workspace_id, id DESC);
CREATE INDEX cron_jobs_due_idx ON cron_jobs (next_run_at) WHERE next_run_at IS NOT NULL;

ALTER TABLE tasks ADD COLUMN occurrence_at timestamptz(3);

-- One occurrence an instant. One that was cancelled may be replaced: a pause may end before its time comes.
CREATE UNIQUE INDEX tasks_occurrence_key ON tasks (cron_job_id, occurrence_at)
  WHERE occurrence_at IS NOT NULL AND state <> 'cancelled';
CREATE INDEX tasks_cron_job_id_id_idx ON tasks (cron_job_id, id DESC) WHERE cron_job_id IS NOT NULL;
CREATE INDEX tasks_unfinished_of_cron_job_idx ON tasks (cron_job_id) WHERE cron_job_id IS NOT NULL AND finished_at IS NULL;
