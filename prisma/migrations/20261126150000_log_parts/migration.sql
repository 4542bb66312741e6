-- The parts of the log in object storage. Each has runs of one workspace and one day in UTC, which are no longer in `runs`.
CREATE TABLE log_parts (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  day date NOT NULL,
  part integer NOT NULL,
  -- writing: the object may be there, and the runs are in `runs`. stored: the runs are only in the object. restored: they are in
  -- `runs` again. deleting: the object is to be deleted, then the row.
  state text NOT NULL DEFAULT 'writing' CHECK (state IN ('writing', 'stored', 'restored', 'deleting')),
  object_key text NOT NULL,
  first_run_id uuid NOT NULL,
  last_run_id uuid NOT NULL,
  -- The tasks of its runs are between these.
  first_task_id uuid NOT NULL,
  last_task_id uuid NOT NULL,
  succeeded integer NOT NULL,
  failed integer NOT NULL,
  -- The size of the object, and its SHA-256 in base64.
  object_bytes integer NOT NULL,
  checksum text NOT NULL,
  -- What its runs and tasks count as storage, which the part continues to count.
  storage_bytes bigint NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  restored_at timestamptz(3),
  -- Until when the runs of a restored part stay in PostgreSQL.
  hot_until timestamptz(3),
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX log_parts_workspace_id_day_part_key ON log_parts (workspace_id, day, part);
-- One scheduler at a time writes a part of a workspace.
CREATE UNIQUE INDEX log_parts_writing ON log_parts (workspace_id) WHERE state = 'writing';
-- For lists, newest first.
CREATE INDEX log_parts_workspace_id_last_run_id_idx ON log_parts (workspace_id, last_run_id);
-- For the retention.
CREATE INDEX log_parts_state_day_idx ON log_parts (state, day);
