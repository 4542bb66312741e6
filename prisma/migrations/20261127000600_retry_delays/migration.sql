-- AlterTable
ALTER TABLE "task_requests" ADD COLUMN     "retry_delays" TEXT;

-- AlterTable
ALTER TABLE "cron_jobs" ADD COLUMN     "retry_delays" TEXT;

-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "retry_delays" TEXT;
