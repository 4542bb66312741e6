-- Releases held tasks.
-- Sent by releaseHeldTasks.

WITH held AS MATERIALIZED (
 SELECT id FROM tasks
 WHERE ((state IN ('pending', 'retrying') AND due_at > now() + interval '5000 years') OR (state = 'processing' AND lease_until > now() + interval '5000 years'))
   AND ($1::uuid IS NULL OR workspace_id = $1)
 ORDER BY due_at LIMIT $2 FOR UPDATE
), released AS (
 UPDATE tasks SET
   due_at = CASE state WHEN 'processing' THEN due_at ELSE due_at - interval '10000 years' END,
   lease_until = lease_until - interval '10000 years',
   updated_at = now()
  WHERE id IN (SELECT id FROM held)
  RETURNING due_at, lease_until
),
lowered AS (
 UPDATE waiting_floor f SET due_at = least(f.due_at, early.due_at), lease_until = least(f.lease_until, early.lease_until)
 FROM (SELECT min(due_at) AS due_at, min(lease_until) AS lease_until FROM released) early
)
SELECT count(*)::int AS released FROM released
