-- Users as an OpenID Connect issuer knows them, and what a sign-out at the issuer needs.
CREATE TABLE user_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (issuer, subject)
);
CREATE UNIQUE INDEX user_identities_user_id_issuer_key ON user_identities (user_id, issuer);
ALTER TABLE sessions ADD COLUMN logout_hint text;
