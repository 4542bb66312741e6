-- Cancels a task that has not started.
-- Sent by cancelPendingTask.

UPDATE tasks SET state = 'cancelled', state_reason = 'user', finished_at = now(), updated_at = now()
WHERE id = $1 AND workspace_id = $2 AND state = 'pending'
RETURNING clock_timestamp() AS now
