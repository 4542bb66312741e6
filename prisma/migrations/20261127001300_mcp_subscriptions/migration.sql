-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "created_by" TEXT,
ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "mcp" JSONB;

-- AlterTable
ALTER TABLE "cron_jobs" ADD COLUMN     "subscription_id" UUID;

CREATE INDEX cron_jobs_subscription_idx ON cron_jobs (subscription_id) WHERE subscription_id IS NOT NULL;
