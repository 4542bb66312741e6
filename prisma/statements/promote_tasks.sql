-- Reads a page of the waiting tasks of a window, which are added to the queue.
-- Sent by withPromotion.

SELECT t.id, t.due_at AS "dueAt", t.workspace_id AS "workspaceId", split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1) AS origin
FROM (
  SELECT id, due_at, workspace_id FROM tasks
  WHERE state IN ('pending', 'retrying') AND waits_for = 0 AND NOT quarantined AND (due_at, id) > ($1, $2) AND due_at < $3
  ORDER BY due_at, id LIMIT 1000
) t JOIN task_requests r ON r.task_id = t.id
ORDER BY t.due_at, t.id
