-- What is due, by workspace: a small one is found behind the million of another. Claims and records pay nothing for it,
-- because a task leaves it when it is claimed.
CREATE INDEX tasks_workspace_id_due_at_id_idx ON tasks (workspace_id, due_at, id) WHERE state IN ('pending', 'retrying');

-- With the id, as above, so that many tasks of one instant can be read page by page.
CREATE INDEX tasks_due_at_id_idx ON tasks (due_at, id) WHERE state IN ('pending', 'retrying');
DROP INDEX tasks_due_idx;
