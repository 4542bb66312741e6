-- The run deltas name their tasks, so the scheduler can count attempts by host.
ALTER TABLE run_changes ADD COLUMN task_ids uuid[] NOT NULL DEFAULT '{}', ADD COLUMN durations_ms integer[] NOT NULL DEFAULT '{}';

CREATE TABLE host_statistics (
  workspace_id uuid NOT NULL,
  period smallint NOT NULL,
  starts_at timestamptz(3) NOT NULL,
  host text NOT NULL,
  total bigint NOT NULL,
  failed bigint NOT NULL,
  duration_ms bigint NOT NULL,
  PRIMARY KEY (workspace_id, period, starts_at, host)
);
CREATE INDEX host_statistics_period_starts_at_idx ON host_statistics (period, starts_at);
