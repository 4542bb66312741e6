-- Lowers the floor to waiting work before it.
-- Sent by mendWaitingFloor.

WITH first AS (
  SELECT due_at FROM tasks WHERE state IN ('pending', 'retrying') AND NOT quarantined AND due_at < coalesce((SELECT f.due_at FROM waiting_floor f), '-infinity') ORDER BY due_at, id LIMIT 1
),
first_lease AS (
  SELECT lease_until FROM tasks WHERE state = 'processing' AND lease_until < coalesce((SELECT f.lease_until FROM waiting_floor f), '-infinity')
  ORDER BY lease_until LIMIT 1
),
lowered AS (
  UPDATE waiting_floor SET due_at = least(waiting_floor.due_at, early.due_at)
  FROM (SELECT min(due_at) AS due_at FROM first) early
  WHERE early.due_at < now() - interval '30 seconds'
),
lowered_lease AS (
  UPDATE waiting_floor SET lease_until = first_lease.lease_until FROM first_lease WHERE NOT EXISTS (SELECT FROM first)
)
SELECT due_at AS "dueAt" FROM first
