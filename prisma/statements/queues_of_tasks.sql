-- Finds the queues of tasks that have ended or wait again.
-- Sent by advanceQueuesOf.

SELECT DISTINCT queue_id AS id FROM tasks WHERE id = ANY ($1::uuid[]) AND queue_id IS NOT NULL
