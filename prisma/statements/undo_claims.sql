-- Undoes claims whose attempts never started, and refunds their executions.
-- Sent by undoClaims.

WITH input AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::float8[]) AS input (id, workspace_id, run_id, delay_ms)),
undone AS (
  UPDATE tasks t
  SET state = CASE WHEN t.attempts > 1 THEN 'retrying' ELSE 'pending' END::task_state, attempts = t.attempts - 1,
      run_id = NULL, lease_until = NULL, dispatcher_id = NULL, prefetched = false, updated_at = now(),
      due_at = coalesce(clock_timestamp() + i.delay_ms * interval '1 millisecond', t.due_at)
  FROM input i JOIN tasks o ON o.id = i.id
  WHERE t.id = i.id AND t.workspace_id IS NOT DISTINCT FROM i.workspace_id AND t.run_id = i.run_id
    AND t.state IS NOT DISTINCT FROM (SELECT 'processing'::task_state)
  RETURNING t.id, t.workspace_id, t.attempts, t.due_at, t.queue_id, i.run_id, o.dispatcher_id
),
returned AS (
  INSERT INTO queue_starts (queue_id, at, starts)
  SELECT queue_id, uuid_v7_time(run_id), -count(*) FROM undone u
  WHERE EXISTS (
    SELECT FROM queue_starts s WHERE s.queue_id = u.queue_id AND s.at = uuid_v7_time(u.run_id) OFFSET 0
  )
  GROUP BY 1, 2
),
unstarted AS (SELECT workspace_id, run_id, dispatcher_id FROM undone WHERE attempts = 0),
refunded AS (
  INSERT INTO execution_blocks AS b (month, organization_id, dispatcher_id, unspent)
  SELECT utc_month(uuid_v7_time(run_id)), w.organization_id, dispatcher_id, count(*)
  FROM unstarted JOIN workspaces w ON w.id = workspace_id GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (month, organization_id, dispatcher_id) DO UPDATE SET unspent = b.unspent + excluded.unspent
),
uncounted AS (
  INSERT INTO usage_changes (workspace_id, executions, changed_at)
  SELECT workspace_id, -count(*), min(uuid_v7_time(run_id))
  FROM unstarted GROUP BY workspace_id, (uuid_v7_time(run_id) AT TIME ZONE 'UTC')::date
)
SELECT id, due_at AS "dueAt", clock_timestamp() AS now FROM undone
