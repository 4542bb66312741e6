-- The labels of cron jobs may have placeholders for members of the payload.
ALTER TABLE cron_jobs ADD COLUMN written_labels text[];
