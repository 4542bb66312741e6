-- Reads a page of the waiting tasks of a window, for the queue, or of one share, for its dispatcher.
-- Sent by waitingTasks.

SELECT t.id, t.due_at AS "dueAt", t.workspace_id AS "workspaceId", split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1) AS origin
FROM (
  SELECT id, due_at, workspace_id FROM tasks
  WHERE state IN ('pending', 'retrying') AND waits_for = 0 AND NOT quarantined AND (due_at, id) > ($1::timestamptz, $2::uuid) AND due_at < $3::timestamptz
    AND ($5::int = 1 OR (get_byte(uuid_send(id), 14) * 256 + get_byte(uuid_send(id), 15)) % $5::int = $4::int)
  ORDER BY due_at, id LIMIT 1000
) t JOIN task_requests r ON r.task_id = t.id
ORDER BY t.due_at, t.id
