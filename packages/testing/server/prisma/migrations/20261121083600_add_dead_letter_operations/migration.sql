-- Null for nearly every task, so it costs a row nothing.
ALTER TABLE tasks ADD COLUMN settled_at timestamptz(3);
CREATE INDEX tasks_dead_letters_idx ON tasks (workspace_id, id) WHERE state = 'dead' AND settled_at IS NULL;

CREATE TYPE dead_letter_action AS ENUM ('replay', 'discard');

CREATE TABLE dead_letter_operations (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  action dead_letter_action NOT NULL,
  cron_job_id uuid,
  topic text,
  execute_from timestamptz(3),
  execute_to timestamptz(3),
  total integer NOT NULL,
  settled integer NOT NULL DEFAULT 0,
  cursor uuid NOT NULL,
  cancelled boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3)
);
-- One at a time in each workspace.
CREATE UNIQUE INDEX dead_letter_operations_running_key ON dead_letter_operations (workspace_id) WHERE finished_at IS NULL;
CREATE INDEX dead_letter_operations_turn_idx ON dead_letter_operations (updated_at) WHERE finished_at IS NULL;
CREATE INDEX dead_letter_operations_workspace_id_idx ON dead_letter_operations (workspace_id);
CREATE INDEX dead_letter_operations_finished_at_idx ON dead_letter_operations (finished_at);
