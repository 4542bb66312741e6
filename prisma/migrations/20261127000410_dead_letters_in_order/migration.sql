-- A replay of many dead letters reads them in the order of an ordered queue.
CREATE INDEX CONCURRENTLY tasks_dead_letters_in_order_idx ON tasks (workspace_id, execute_at, id) WHERE state = 'dead' AND settled_at IS NULL;
