-- Raises the floor to the first waiting task.
-- Sent by raiseWaitingFloor.

  SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off; SET LOCAL enable_bitmapscan = off;
SELECT FROM waiting_floor FOR UPDATE;
WITH next AS (
  SELECT
    least(now() - interval '1 minute', (
      SELECT t.due_at FROM tasks t WHERE state IN ('pending', 'retrying') AND waits_for = 0 AND t.due_at >= coalesce((SELECT f.due_at FROM waiting_floor f), '-infinity') ORDER BY t.due_at, t.id LIMIT 1
    )) AS due_at,
    least(now() - interval '1 minute', (
      SELECT t.lease_until FROM tasks t WHERE state = 'processing' AND waits_for = 0 AND t.lease_until >= coalesce((SELECT f.lease_until FROM waiting_floor f), '-infinity')
      ORDER BY t.lease_until LIMIT 1
    )) AS lease_until
)
UPDATE waiting_floor f SET due_at = next.due_at, lease_until = next.lease_until FROM next
WHERE (f.due_at, f.lease_until) IS DISTINCT FROM (next.due_at, next.lease_until)
