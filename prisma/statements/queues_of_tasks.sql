-- Finds the queues of tasks that have ended, wait again or are changed.
-- Sent by queuesOf.

SELECT DISTINCT queue_id AS id FROM tasks WHERE id = ANY ($1::uuid[]) AND queue_id IS NOT NULL
