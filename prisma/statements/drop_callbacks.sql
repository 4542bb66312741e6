-- Drops the callbacks of a task that PostgreSQL cannot store.
-- Sent by dropCallbacks.

UPDATE tasks SET has_callbacks = false WHERE id = $1 AND ($2::uuid IS NULL OR run_id = $2) AND has_callbacks
