-- The notices of a workspace at a limit count the tasks that it has cancelled.
CREATE INDEX CONCURRENTLY tasks_cancelled_for_limit_idx ON tasks (workspace_id, state_reason, finished_at)
  WHERE state = 'cancelled' AND state_reason IN ('monthly_execution_limit', 'storage_quota');
