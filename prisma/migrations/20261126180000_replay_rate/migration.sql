-- The rate of a replay. Both are null when all replays are due at once.
ALTER TABLE dead_letter_operations ADD COLUMN per_second integer, ADD COLUMN next_due_at timestamptz(3);
