-- The second factors of users: passkeys, the secret of an authenticator app, and recovery codes.
CREATE TABLE passkeys (
  id            uuid PRIMARY KEY,
  user_id       uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
  credential_id text NOT NULL,
  public_key    bytea NOT NULL,
  counter       bigint NOT NULL,
  transports    text[] NOT NULL,
  name          text NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at  timestamptz(3)
);
CREATE UNIQUE INDEX passkeys_credential_id_key ON passkeys (credential_id);
CREATE INDEX passkeys_user_id_idx ON passkeys (user_id);

CREATE TABLE totp_factors (
  id            uuid PRIMARY KEY,
  user_id       uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
  sealed_secret bytea NOT NULL,
  master_key_id text NOT NULL,
  wrapped_key   bytea NOT NULL,
  last_step     bigint,
  confirmed_at  timestamptz(3),
  created_at    timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX totp_factors_user_id_key ON totp_factors (user_id);

CREATE TABLE recovery_codes (
  user_id   uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
  code_hash bytea NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);

-- What a passkey has to sign, and sign-ins that wait for a second factor.
CREATE TABLE challenges (
  hash       bytea PRIMARY KEY,
  purpose    text NOT NULL,
  user_id    uuid REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX challenges_user_id_idx ON challenges (user_id);
CREATE INDEX challenges_expires_at_idx ON challenges (expires_at);

ALTER TABLE sessions ADD COLUMN confirmed_at timestamptz(3), ADD COLUMN has_second_factor boolean NOT NULL DEFAULT false;
ALTER TABLE organizations ADD COLUMN require_second_factor boolean NOT NULL DEFAULT false;
