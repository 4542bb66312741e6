-- When the recipient agreed to get alerts; null until then. Integrations that exist already keep sending.
ALTER TABLE integrations ADD COLUMN confirmed_at timestamptz(3) DEFAULT now();
ALTER TABLE integrations ALTER COLUMN confirmed_at DROP DEFAULT;

-- The hash of the token in the mail that asks the recipient.
ALTER TABLE integrations ADD COLUMN confirm_hash bytea;
CREATE UNIQUE INDEX integrations_confirm_hash_key ON integrations (confirm_hash);
