-- No foreign keys: what was done stays on record when those who did it, or what it was done to, are gone.
CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  workspace_id uuid,
  action text NOT NULL,
  user_id uuid,
  api_key_id uuid,
  address text NOT NULL,
  object_id text NOT NULL,
  details text NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_organization_id_id_idx ON audit_log (organization_id, id DESC);

CREATE FUNCTION refuse_audit_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The audit log is append-only.';
END
$$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();

-- How soon a name may try again: see takeTurn.
CREATE TABLE throttles (
  name text PRIMARY KEY,
  free_at timestamptz NOT NULL
);
CREATE INDEX throttles_free_at_idx ON throttles (free_at);
CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);
