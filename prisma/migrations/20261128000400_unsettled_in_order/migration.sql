-- A replay by reason reads dead letters and cancelled tasks in the order of an ordered queue.
CREATE INDEX CONCURRENTLY tasks_unsettled_in_order_idx ON tasks (workspace_id, execute_at, id)
  WHERE state IN ('dead', 'cancelled') AND settled_at IS NULL;
