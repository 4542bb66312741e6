-- Picks one of the oldest due tasks in quarantine, to be claimed alone.
-- Sent by nextQuarantined.

WITH due AS MATERIALIZED (
  SELECT id, workspace_id AS owner, due_at FROM tasks WHERE quarantined AND waits_for = 0 AND state = 'retrying' AND due_at <= clock_timestamp()
    AND NOT EXISTS (SELECT FROM suspended_workspaces s WHERE s.id = workspace_id)
    AND (workspace_id <> ALL ($1::uuid[]) OR NOT EXISTS (
      SELECT FROM task_requests e WHERE e.task_id = id
        AND (workspace_id, split_part(e.url, '/', 1) || '//' || split_part(split_part(e.url, '/', 3), '?', 1)) IN (SELECT * FROM unnest($1::uuid[], $2::text[])) OFFSET 0
    ))
),
picked AS MATERIALIZED (SELECT owner FROM (SELECT DISTINCT owner FROM due) d ORDER BY random() LIMIT 1)
SELECT oldest.id, oldest.owner AS "workspaceId", split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1) AS origin FROM (
  SELECT id, owner FROM due JOIN picked USING (owner) ORDER BY due_at, id LIMIT 8
) oldest JOIN task_requests r ON r.task_id = oldest.id ORDER BY random() LIMIT 1
