-- AlterTable
ALTER TABLE "dead_letter_operations" ADD COLUMN     "held_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "task_operations" ADD COLUMN     "held_at" TIMESTAMPTZ(3);
