-- Lowers the floor to waiting work before it.
-- Sent by mendWaitingFloor.

WITH first AS (
  SELECT due_at FROM tasks WHERE state IN ('pending', 'retrying') AND waits_for = 0 AND due_at < coalesce((SELECT f.due_at FROM waiting_floor f), '-infinity') ORDER BY due_at, id LIMIT 1
),
first_lease AS (
  SELECT lease_until FROM tasks WHERE state = 'processing' AND waits_for = 0 AND lease_until < coalesce((SELECT f.lease_until FROM waiting_floor f), '-infinity') ORDER BY lease_until LIMIT 1
),
lowered AS (
  UPDATE waiting_floor f SET due_at = least(f.due_at, first.due_at), lease_until = least(f.lease_until, first_lease.lease_until)
  FROM first FULL JOIN first_lease ON true
)
SELECT due_at AS "dueAt" FROM first
