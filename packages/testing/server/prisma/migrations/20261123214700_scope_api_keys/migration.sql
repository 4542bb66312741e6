-- The rights of an API key: all that a key can have (`full`), or those that its creator had.
ALTER TABLE api_keys ADD COLUMN scopes text[] NOT NULL DEFAULT '{full}';
