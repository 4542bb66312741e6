-- Trust of workspaces in the tokens of CI jobs, which exchange them for API keys that expire soon.
CREATE TABLE federated_credentials (
  id              uuid PRIMARY KEY,
  workspace_id    uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE ON UPDATE CASCADE,
  name            text NOT NULL,
  issuer          text NOT NULL,
  audience        text NOT NULL,
  conditions      jsonb NOT NULL,
  scopes          text[] NOT NULL,
  lifetime_ms     integer NOT NULL,
  created_by      uuid NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at    timestamptz(3),
  keys            jsonb,
  keys_read_at    timestamptz(3),
  keys_message_id uuid,
  keys_ordered_at timestamptz(3)
);
CREATE INDEX federated_credentials_workspace_id_idx ON federated_credentials (workspace_id);

CREATE TABLE exchanged_tokens (
  hash       bytea PRIMARY KEY,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX exchanged_tokens_expires_at_idx ON exchanged_tokens (expires_at);

ALTER TABLE api_keys ADD COLUMN federated_credential_id uuid, ADD COLUMN subject text;
-- For the deletion of expired keys, of which there are few.
CREATE INDEX api_keys_expired_idx ON api_keys (expires_at) WHERE federated_credential_id IS NOT NULL;
