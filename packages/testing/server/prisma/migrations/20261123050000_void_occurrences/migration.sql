-- Occurrences that were made before this and have not started are void: the cron job was paused, or its rule changed.
ALTER TABLE cron_jobs ADD COLUMN void_before timestamptz(3);
