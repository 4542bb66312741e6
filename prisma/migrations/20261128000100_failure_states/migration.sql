CREATE TABLE failure_states (
  workspace_id uuid NOT NULL,
  host text NOT NULL,
  error_code text NOT NULL,
  response_status smallint NOT NULL,
  state text NOT NULL,
  changed_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, host, error_code, response_status)
);
