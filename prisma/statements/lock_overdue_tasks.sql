-- Locks the waiting tasks with the earliest passed deadlines.
-- Sent by expireTasks.

SELECT id FROM tasks WHERE expires_at IS NOT NULL AND expires_at <= now() AND state IN ('pending', 'retrying')
  AND waits_for <> 2
ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
