-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "filter" TEXT;
