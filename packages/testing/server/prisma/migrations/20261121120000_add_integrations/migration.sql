CREATE TYPE alert_channel AS ENUM ('slack', 'discord', 'email', 'webhook');

CREATE TABLE integrations (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  channel alert_channel NOT NULL,
  events text[] NOT NULL,
  sealed_target bytea NOT NULL,
  key_version integer NOT NULL,
  shown_target text NOT NULL,
  told_until timestamptz(3) NOT NULL DEFAULT now(),
  quiet_until timestamptz(3) NOT NULL DEFAULT now(),
  pause_ms integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX integrations_workspace_id_id_idx ON integrations (workspace_id, id DESC);

-- How far the scheduler has looked for cron jobs that fail. One row.
CREATE TABLE alert_rounds (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  noticed_until timestamptz(3) NOT NULL DEFAULT now()
);
INSERT INTO alert_rounds (noticed_until) VALUES (now() - interval '1 minute');

ALTER TABLE cron_jobs
  ADD COLUMN failing_since timestamptz(3),
  ADD COLUMN health_changed_at timestamptz(3);
CREATE INDEX cron_jobs_failing_idx ON cron_jobs (id) WHERE failing_since IS NOT NULL;
CREATE INDEX cron_jobs_health_idx ON cron_jobs (workspace_id, health_changed_at) WHERE health_changed_at IS NOT NULL;

CREATE INDEX tasks_dead_idx ON tasks (workspace_id, finished_at) WHERE state = 'dead';
CREATE INDEX tasks_dead_occurrences_idx ON tasks (finished_at) WHERE state = 'dead' AND occurrence_at IS NOT NULL;
