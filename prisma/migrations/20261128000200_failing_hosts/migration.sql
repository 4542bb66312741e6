CREATE TABLE failing_hosts (
  workspace_id uuid NOT NULL,
  host text NOT NULL,
  failing_since timestamptz(3),
  health_changed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (workspace_id, host)
);
