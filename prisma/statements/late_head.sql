-- Reads the oldest late tasks.
-- Sent by openLateSearch.

SELECT workspace_id AS "workspaceId", id FROM tasks
WHERE state IN ('pending', 'retrying') AND waits_for = 0 AND NOT quarantined AND due_at >= coalesce((SELECT f.due_at FROM waiting_floor f), '-infinity') AND due_at <= now() - $1::float8 * interval '1 millisecond'
ORDER BY due_at, id LIMIT 1000
