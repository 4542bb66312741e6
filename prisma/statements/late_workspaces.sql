-- Checks a page of workspaces for a late task, because the oldest ones may all belong to others.
-- Sent by openLateSearch.

SELECT w.id AS "workspaceId",
       CASE WHEN first.workspace_id = w.id AND first.due_at <= now() - $3::float8 * interval '1 millisecond'
            THEN first.id END AS id
FROM (SELECT id FROM workspaces WHERE id > $1 ORDER BY id LIMIT $2) w LEFT JOIN LATERAL (
  SELECT id, workspace_id, due_at FROM tasks
  WHERE state IN ('pending', 'retrying') AND waits_for = 0 AND NOT quarantined AND (workspace_id, due_at) >= (w.id, coalesce((SELECT f.due_at FROM waiting_floor f), '-infinity'))
  ORDER BY workspace_id, due_at, tasks.id LIMIT 1
) first ON true
ORDER BY w.id
