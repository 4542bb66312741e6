-- The hosts that rest, as each dispatcher tells: for operators to see, and to end a rest.
CREATE TABLE resting_hosts (
  workspace_id uuid NOT NULL,
  host text NOT NULL,
  dispatcher uuid NOT NULL,
  since timestamptz(3) NOT NULL DEFAULT now(),
  rests_until timestamptz(3) NOT NULL,
  reset_at timestamptz(3),
  PRIMARY KEY (workspace_id, host, dispatcher)
);
