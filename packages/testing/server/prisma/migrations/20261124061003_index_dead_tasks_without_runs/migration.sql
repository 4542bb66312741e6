-- Tasks that expired before their first attempt have no run, so the deletion of old runs does not reach them.
CREATE INDEX CONCURRENTLY tasks_dead_without_run_idx ON tasks (workspace_id, id) WHERE state = 'dead' AND run_id IS NULL;
