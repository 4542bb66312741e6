-- A key that the creator chose, so that a program finds its object again. These tables have few rows in a workspace.
ALTER TABLE cron_jobs ADD COLUMN key text;
ALTER TABLE subscriptions ADD COLUMN key text;
ALTER TABLE integrations ADD COLUMN key text;
CREATE UNIQUE INDEX cron_jobs_workspace_id_key_key ON cron_jobs (workspace_id, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX subscriptions_workspace_id_key_key ON subscriptions (workspace_id, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX integrations_workspace_id_key_key ON integrations (workspace_id, key) WHERE key IS NOT NULL;
