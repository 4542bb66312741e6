-- AlterTable
ALTER TABLE "workspaces" ADD COLUMN     "switch_off_days" SMALLINT NOT NULL DEFAULT 10;

-- AlterTable
ALTER TABLE "cron_jobs" ADD COLUMN     "failing_warned_at" TIMESTAMPTZ(3),
ADD COLUMN     "paused_reason" TEXT;

-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "failing_since" TIMESTAMPTZ(3),
ADD COLUMN     "failing_warned_at" TIMESTAMPTZ(3),
ADD COLUMN     "paused_reason" TEXT;

CREATE INDEX subscriptions_failing_idx ON subscriptions (id) WHERE failing_since IS NOT NULL;
