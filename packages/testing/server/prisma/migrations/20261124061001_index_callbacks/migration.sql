CREATE INDEX CONCURRENTLY tasks_callback_of_idx ON tasks (callback_of, id DESC) WHERE callback_of IS NOT NULL;
