CREATE INDEX CONCURRENTLY tasks_quarantined_due_at_idx ON tasks (due_at) WHERE quarantined;
