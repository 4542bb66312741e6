CREATE INDEX CONCURRENTLY tasks_queue_idx ON tasks (queue_id, queue_phase(state, due_at), execute_at, id)
WHERE queue_id IS NOT NULL AND finished_at IS NULL;
