-- Deletes a batch of the tasks of a deleted workspace.
-- Sent by purgeWorkspace.

WITH deleted AS (
  DELETE FROM tasks
  WHERE id IN (SELECT id FROM tasks WHERE workspace_id = $1 ORDER BY state, id DESC LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING id
),
requests AS (
  DELETE FROM task_requests r USING deleted t WHERE r.task_id = t.id
  RETURNING coalesce(octet_length(r.payload), 0) + coalesce(r.extra_bytes, 0) AS bytes, r.task_id, r.labels
),
unlabelled AS (
  DELETE FROM task_labels l USING (
    SELECT q.task_id, k.label FROM requests q CROSS JOIN LATERAL unnest(q.labels) AS k (label)
  ) gone
  WHERE l.workspace_id = $1 AND l.label = gone.label AND l.task_id = gone.task_id
),
recorded AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT $1, -sum(bytes) FROM requests HAVING sum(bytes) > 0
)
SELECT FROM deleted
