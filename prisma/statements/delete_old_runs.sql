-- Deletes a page of old runs, and the finished tasks whose latest runs they are.
-- Sent by deleteOldRuns.

WITH page AS (
  SELECT id, task_id FROM runs
  WHERE workspace_id = $1 AND id > $4 AND id < uuid_v7_floor(now() - $2 * interval '1 day') ORDER BY id LIMIT $3
  FOR UPDATE SKIP LOCKED
),
old AS (
  SELECT page.id, CASE WHEN t.run_id = page.id AND t.finished_at IS NOT NULL THEN page.task_id END AS finished_task
  FROM page LEFT JOIN LATERAL (
    SELECT state, settled_at, finished_at, run_id FROM tasks WHERE id = page.task_id AND workspace_id = $1 LIMIT 1
  ) t ON true
  WHERE (t.state = 'dead' AND t.settled_at IS NULL
         AND t.finished_at > now() - greatest($2, 365) * interval '1 day') IS NOT TRUE
),
finished AS (
  SELECT t.id, t.state = 'dead' AND t.settled_at IS NULL AS is_dead_letter
  FROM old JOIN tasks t ON t.id = old.finished_task FOR UPDATE OF t SKIP LOCKED
),
deleted AS (
  DELETE FROM runs r USING old
  WHERE r.workspace_id = $1 AND r.id = old.id
    AND (old.finished_task IS NULL OR old.finished_task IN (SELECT id FROM finished))
  RETURNING coalesce(octet_length(response_body), 0) + coalesce(extra_bytes, 0) AS bytes
),
tasks_deleted AS (DELETE FROM tasks t USING finished WHERE t.id = finished.id RETURNING t.id, is_dead_letter),
requests AS (
  DELETE FROM task_requests r USING tasks_deleted t WHERE r.task_id = t.id
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
  SELECT $1, -sum(bytes) FROM (SELECT bytes FROM deleted UNION ALL SELECT bytes FROM requests) freed HAVING sum(bytes) > 0
)
SELECT (SELECT count(*)::int FROM page) AS examined, (SELECT count(*)::int FROM deleted) AS deleted,
       (SELECT count(*)::int FROM tasks_deleted WHERE is_dead_letter) AS "deadLetters",
       (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last
