-- Deletes the oldest dead tasks without a run.
-- Sent by deleteTasks.

WITH old AS (
  SELECT id FROM tasks
  WHERE workspace_id = $1 AND id < uuid_v7_floor(now() - $2 * interval '1 day')
    AND finished_at < now() - $2 * interval '1 day' AND state = 'dead' AND (SELECT u.id FROM runs u WHERE u.workspace_id = $1 AND u.id = tasks.run_id) IS NULL
    AND (settled_at IS NOT NULL OR finished_at < now() - greatest($2, 365) * interval '1 day')
  ORDER BY id LIMIT $3
  FOR UPDATE SKIP LOCKED
),
deleted AS (DELETE FROM tasks t USING old WHERE t.id = old.id RETURNING t.id),
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
SELECT count(*)::int AS deleted FROM deleted
