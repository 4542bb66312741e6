-- AlterTable
ALTER TABLE "bulk_operations" ADD COLUMN     "undecided" UUID[] DEFAULT ARRAY[]::UUID[];
