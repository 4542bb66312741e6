-- Where an API key may be used from, where it was used from, and how long new keys of an organization are valid at most.
ALTER TABLE api_keys ADD COLUMN allowed_ranges text[] NOT NULL DEFAULT '{}', ADD COLUMN last_used_address text;
ALTER TABLE organizations ADD COLUMN max_api_key_days integer;
