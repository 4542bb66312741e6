-- DropForeignKey
ALTER TABLE "queues" DROP CONSTRAINT "queues_workspace_id_fkey";

-- AddForeignKey
ALTER TABLE "queues" ADD CONSTRAINT "queues_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
