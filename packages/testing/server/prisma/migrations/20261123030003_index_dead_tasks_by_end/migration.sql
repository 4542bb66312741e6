-- What has died lately, in all workspaces. A delivery costs nothing for it.
CREATE INDEX CONCURRENTLY tasks_dead_finished_at_idx ON tasks (finished_at) WHERE state = 'dead';
