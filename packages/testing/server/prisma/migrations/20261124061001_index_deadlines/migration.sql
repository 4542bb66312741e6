CREATE INDEX CONCURRENTLY tasks_expires_at_idx ON tasks (expires_at)
  WHERE expires_at IS NOT NULL AND state IN ('pending', 'retrying');
