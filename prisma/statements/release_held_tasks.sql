-- Releases held tasks.
-- Sent by releaseHeldTasks.

WITH held AS MATERIALIZED (
  SELECT id FROM tasks WHERE waits_for = 2 AND finished_at IS NULL AND ($1::uuid IS NULL OR workspace_id = $1) ORDER BY due_at LIMIT $2 FOR UPDATE
)
UPDATE tasks t SET waits_for = 0, expires_at = expires_at + greatest(now() - due_at, interval '0'), updated_at = now()
FROM held WHERE t.id = held.id
