-- The secrets that sign the calls of a subscription instead of those of its workspace. A table of its own, because processes of
-- the previous release sign every call of a workspace with all of signing_secrets.
CREATE TABLE subscription_secrets (
  id              uuid PRIMARY KEY,
  workspace_id    uuid NOT NULL,
  subscription_id uuid NOT NULL,
  sealed_value    bytea NOT NULL,
  key_version     integer NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  expires_at      timestamptz(3),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX subscription_secrets_workspace_id_idx ON subscription_secrets (workspace_id);
CREATE INDEX subscription_secrets_subscription_id_idx ON subscription_secrets (subscription_id);
CREATE INDEX subscription_secrets_expires_at_idx ON subscription_secrets (expires_at);
CREATE UNIQUE INDEX subscription_secrets_current_key ON subscription_secrets (subscription_id) WHERE expires_at IS NULL;

-- The subscription whose secrets sign the calls of a task.
ALTER TABLE task_requests ADD COLUMN subscription_id uuid;

-- The tasks of a deleted subscription are still sent. Runs with the rights of its owner, because processes of the previous
-- release have none on the table.
CREATE FUNCTION end_subscription_secrets() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE subscription_secrets s SET expires_at = now() + interval '30 days'
  FROM removed r WHERE s.subscription_id = r.id AND s.expires_at IS NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER end_secrets AFTER DELETE ON subscriptions REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION end_subscription_secrets();
