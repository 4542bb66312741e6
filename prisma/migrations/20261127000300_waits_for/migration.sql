-- What keeps an unfinished task from starting at its time: 0 nothing, 1 its queue, 2 the operator, who holds it
-- after a restore.
ALTER TABLE tasks ADD COLUMN waits_for smallint NOT NULL DEFAULT 0;

-- Blocked tasks lay 2,000 years ahead, held tasks and the leases of held attempts another 10,000.
UPDATE tasks
SET waits_for = 2,
    due_at = CASE WHEN due_at >= '11000-01-01 00:00:00+00' THEN due_at - interval '12000 years'
                  WHEN due_at >= '9000-01-01 00:00:00+00' THEN due_at - interval '10000 years' ELSE due_at END,
    lease_until = CASE WHEN lease_until >= '9000-01-01 00:00:00+00' THEN lease_until - interval '10000 years'
                       ELSE lease_until END
WHERE due_at >= '9000-01-01 00:00:00+00' OR lease_until >= '9000-01-01 00:00:00+00';
UPDATE tasks SET waits_for = 1, due_at = due_at - interval '2000 years' WHERE due_at >= '3000-01-01 00:00:00+00';

-- Where an unfinished task is: 0 waits for its time or a dispatcher, 1 blocked, 2 in flight, 3 held. Used by
-- an index, so it can only change together with the index.
CREATE FUNCTION queue_phase(state task_state, waits_for smallint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN waits_for = 2 THEN 3 WHEN waits_for = 1 THEN 1 WHEN state = 'processing' THEN 2 ELSE 0 END
$$;

-- The indexes of due work and of leases have only tasks that wait for nothing else.
DROP INDEX tasks_workspace_id_due_at_id_idx;
CREATE INDEX tasks_workspace_id_due_at_id_idx ON tasks (workspace_id, due_at, id)
  WHERE state IN ('pending', 'retrying') AND waits_for = 0;
DROP INDEX tasks_due_at_id_idx;
CREATE INDEX tasks_due_at_id_idx ON tasks (due_at, id) WHERE state IN ('pending', 'retrying') AND waits_for = 0;
DROP INDEX tasks_quarantined_due_at_idx;
CREATE INDEX tasks_quarantined_due_at_idx ON tasks (due_at) WHERE quarantined AND waits_for = 0;
DROP INDEX tasks_lease_idx;
CREATE INDEX tasks_lease_idx ON tasks (lease_until) WHERE state = 'processing' AND waits_for = 0;
DROP INDEX tasks_expires_at_idx;
CREATE INDEX tasks_expires_at_idx ON tasks (expires_at)
  WHERE expires_at IS NOT NULL AND state IN ('pending', 'retrying') AND waits_for <> 2;
DROP INDEX tasks_queue_idx;
CREATE INDEX tasks_queue_idx ON tasks (queue_id, queue_phase(state, waits_for), execute_at, id)
  WHERE queue_id IS NOT NULL AND finished_at IS NULL;
DROP FUNCTION queue_phase(task_state, timestamptz);
-- Empty except after a restore.
CREATE INDEX tasks_held_idx ON tasks (due_at) WHERE waits_for = 2 AND finished_at IS NULL;
