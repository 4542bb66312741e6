-- Holds the tasks of a restored backup that were due, expired or in flight.
-- Sent by holdOverdueTasks.

UPDATE tasks SET waits_for = 2, updated_at = now()
WHERE waits_for <> 2
  AND (state = 'processing' OR state IN ('pending', 'retrying') AND (due_at <= $1 OR expires_at <= $1))
