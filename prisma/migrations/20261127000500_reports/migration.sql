-- AlterTable
ALTER TABLE "task_requests" ADD COLUMN     "is_report" BOOLEAN;

-- store_callbacks stores rows, and packages/present makes the payload of them. Processes of the previous version call public_id,
-- so a database that has it keeps it.
DROP FUNCTION IF EXISTS callback_payload(tasks, task_requests), qstash_callback_payload(tasks, task_requests, text),
  public_task(tasks, task_requests, runs), public_run(runs, task_requests),
  public_time(timestamptz), qstash_header(json), body_text(bytea, boolean);
