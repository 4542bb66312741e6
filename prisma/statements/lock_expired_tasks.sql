-- Locks those of the given tasks whose deadlines have passed.
-- Sent by expireTasks.

SELECT t.id FROM tasks t WHERE t.id = ANY ($1::uuid[]) AND (t.expires_at IS NOT NULL AND t.expires_at <= clock_timestamp())
  AND t.state NOT IN ('processing', 'success', 'dead', 'cancelled') AND t.waits_for <> 2
FOR UPDATE SKIP LOCKED
