-- DropTable
DROP TABLE "run_statistics_backfill";

-- AlterTable
ALTER TABLE "runs" DROP COLUMN "in_statistics";

-- DropIndex
DROP INDEX "storage_corrected_at_idx";

-- AlterTable
ALTER TABLE "storage" DROP COLUMN "corrected_at";
