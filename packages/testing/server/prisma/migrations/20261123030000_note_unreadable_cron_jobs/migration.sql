-- Since when no process could read the rule. The cursor stays, so that a process that can read it continues from there.
ALTER TABLE cron_jobs ADD COLUMN unreadable_since timestamptz(3);
CREATE INDEX cron_jobs_unreadable_idx ON cron_jobs (unreadable_since) WHERE unreadable_since IS NOT NULL;
