-- Picks one of the oldest due tasks in quarantine, to be claimed alone.
-- Sent by nextQuarantined.

SELECT due.id, due.workspace_id AS "workspaceId", split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1) AS origin FROM (
  SELECT id, workspace_id FROM tasks WHERE quarantined AND waits_for = 0 AND state = 'retrying' AND due_at <= clock_timestamp()
    AND NOT EXISTS (SELECT FROM suspended_workspaces s WHERE s.id = workspace_id)
  ORDER BY due_at LIMIT 8
) due JOIN task_requests r ON r.task_id = due.id ORDER BY random() LIMIT 1
