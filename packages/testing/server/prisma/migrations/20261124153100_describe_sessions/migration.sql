-- The device of a session, and where and when it was used last. Sign-ins have the device too.
ALTER TABLE sessions ADD COLUMN agent text, ADD COLUMN address text, ADD COLUMN last_used_at timestamptz(3);
ALTER TABLE account_log ADD COLUMN agent text;
