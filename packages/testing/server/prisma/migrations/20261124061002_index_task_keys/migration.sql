CREATE INDEX CONCURRENTLY tasks_workspace_id_key_idx ON tasks (workspace_id, key)
  WHERE key IS NOT NULL AND finished_at IS NULL;
