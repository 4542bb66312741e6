CREATE TABLE data_keys (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  version integer NOT NULL,
  master_key_id text NOT NULL,
  wrapped_key bytea NOT NULL,
  uses integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, version)
);
CREATE INDEX data_keys_master_key_id_idx ON data_keys (master_key_id);

CREATE TABLE secrets (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX secrets_workspace_id_name_key ON secrets (workspace_id, name);

CREATE TABLE signing_secrets (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX signing_secrets_workspace_id_idx ON signing_secrets (workspace_id);

-- One current one: the others are on their way out.
CREATE UNIQUE INDEX signing_secrets_current_key ON signing_secrets (workspace_id) WHERE expires_at IS NULL;
