-- Cancels, stops, replays and discards of many tasks in one table.
CREATE TYPE bulk_action AS ENUM ('cancel', 'stop', 'replay', 'discard');

CREATE TABLE bulk_operations (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  action bulk_action NOT NULL,
  filter jsonb NOT NULL,
  per_second integer,
  total integer NOT NULL,
  done integer NOT NULL DEFAULT 0,
  cursor uuid,
  cursor_at timestamptz(3),
  next_due_at timestamptz(3),
  cancelled boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  held_at timestamptz(3)
);

INSERT INTO bulk_operations (id, workspace_id, action, filter, total, done, cursor, cancelled, created_at, updated_at, finished_at, held_at)
SELECT id, workspace_id, action::bulk_action,
       jsonb_strip_nulls(jsonb_build_object(
         'source', filter -> 'sources', 'cronjob_id', filter -> 'cronJobIds', 'event_id', filter -> 'eventIds',
         'topic', filter -> 'topics', 'label', filter -> 'labels', 'queue', filter -> 'queues',
         'callback_of', filter -> 'callbacksOf', 'name', filter -> 'name', 'from', filter -> 'executeFrom', 'to', filter -> 'executeTo'
       )),
       total, ended, cursor, cancelled, created_at, updated_at, finished_at, held_at
FROM task_operations;

-- A replay begins again in the new order. It skips what it has settled.
INSERT INTO bulk_operations (id, workspace_id, action, filter, per_second, total, done, next_due_at, cancelled, created_at, updated_at, finished_at, held_at)
SELECT id, workspace_id, action::text::bulk_action,
       jsonb_strip_nulls(jsonb_build_object(
         'cronjob_id', CASE WHEN cron_job_id IS NOT NULL THEN jsonb_build_array(cron_job_id) END,
         'topic', CASE WHEN topic IS NOT NULL THEN jsonb_build_array(topic) END,
         'label', CASE WHEN label IS NOT NULL THEN jsonb_build_array(label) END,
         'from', to_char(execute_from AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'to', to_char(execute_to AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'name', filter -> 'name', 'host', filter -> 'hosts', 'error', filter -> 'errors'
       )),
       per_second, total, settled, next_due_at, cancelled, created_at, updated_at, finished_at, held_at
FROM dead_letter_operations;

-- A workspace runs one cancel or stop at a time, and one replay or discard.
CREATE UNIQUE INDEX bulk_operations_open_key ON bulk_operations (workspace_id, (action IN ('cancel', 'stop'))) WHERE finished_at IS NULL;
CREATE INDEX bulk_operations_updated_at_idx ON bulk_operations (updated_at) WHERE finished_at IS NULL;
CREATE INDEX bulk_operations_workspace_id_id_idx ON bulk_operations (workspace_id, id);
CREATE INDEX bulk_operations_finished_at_idx ON bulk_operations (finished_at);

DROP TABLE task_operations;
DROP TABLE dead_letter_operations;
DROP TYPE dead_letter_action;
