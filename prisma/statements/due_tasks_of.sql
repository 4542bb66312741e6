-- Reads the oldest due tasks of workspaces.
-- Sent by dueTasksOf.

SELECT due.id, due.due_at AS "dueAt", due.workspace_id AS "workspaceId", split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1) AS origin
FROM (
  SELECT id, greatest(after_at, floor) AS after_at, share, shares,
         CASE WHEN after_at < floor THEN '00000000-0000-0000-0000-000000000000' ELSE after_id END AS after_id
  FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $5::int[], $6::int[])
    AS q (id, after_at, after_id, share, shares)
  CROSS JOIN (SELECT coalesce((SELECT f.due_at FROM waiting_floor f), '-infinity') AS floor) f
) w CROSS JOIN LATERAL (
  SELECT id, due_at, workspace_id FROM tasks
  WHERE state IN ('pending', 'retrying') AND waits_for = 0 AND NOT quarantined AND (workspace_id, due_at, id) > (w.id, w.after_at, w.after_id)
    AND (workspace_id, due_at) <= (w.id, now()) AND (w.shares = 1 OR (get_byte(uuid_send(id), 14) * 256 + get_byte(uuid_send(id), 15)) % w.shares = w.share)
  ORDER BY workspace_id, due_at, id LIMIT $4
) due JOIN task_requests r ON r.task_id = due.id
ORDER BY due.workspace_id, due.due_at, due.id
