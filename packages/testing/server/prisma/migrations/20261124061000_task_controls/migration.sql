-- No attempt starts at or after expires_at. A key is unique among the pending tasks of a workspace.
ALTER TABLE tasks ADD COLUMN expires_at timestamptz(3), ADD COLUMN key text;
ALTER TABLE task_requests ADD COLUMN labels text[];

-- The deadline and the labels of the tasks that they create.
ALTER TABLE cron_jobs ADD COLUMN max_age_ms integer, ADD COLUMN labels text[];
ALTER TABLE subscriptions ADD COLUMN max_age_ms integer, ADD COLUMN labels text[];

-- Finds the tasks with a label, newest first. Only tasks with labels have rows.
CREATE TABLE task_labels (
  workspace_id uuid NOT NULL,
  label text NOT NULL,
  task_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, label, task_id)
);

-- Cancels and stops of many tasks that run in the background. A workspace runs one at a time.
CREATE TABLE task_operations (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  action text NOT NULL,
  filter jsonb NOT NULL,
  total integer NOT NULL,
  ended integer NOT NULL DEFAULT 0,
  cursor uuid NOT NULL,
  cancelled boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3)
);
CREATE INDEX task_operations_workspace_id_idx ON task_operations (workspace_id);
CREATE INDEX task_operations_finished_at_idx ON task_operations (finished_at);
CREATE INDEX task_operations_updated_at_idx ON task_operations (updated_at) WHERE finished_at IS NULL;
CREATE UNIQUE INDEX task_operations_open_key ON task_operations (workspace_id) WHERE finished_at IS NULL;

ALTER TABLE dead_letter_operations ADD COLUMN label text;
