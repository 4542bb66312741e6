-- Addresses that get no alerts, by their hash: those whose owners have unsubscribed, and those that an operator has blocked.
-- Only the latter are stored as text.
CREATE TABLE mail_blocks (
  id              uuid PRIMARY KEY,
  address_hash    bytea NOT NULL,
  unsubscribed_at timestamptz(3),
  blocked_at      timestamptz(3),
  address         text
);
CREATE UNIQUE INDEX mail_blocks_address_hash_key ON mail_blocks (address_hash);
