-- Notifies dispatchers of a task that becomes due within 15 seconds, whichever statement makes it wait. Dispatchers without
-- a queue read PostgreSQL at least every 9 seconds, so they need no notification of what is due later.
-- The payload: when the task is due in epoch milliseconds, its id, its workspace, and the origin of its URL.
CREATE FUNCTION notify_due_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('belfry_due_task', concat_ws(' ', (extract(epoch FROM NEW.due_at) * 1000)::bigint, NEW.id,
    NEW.workspace_id, split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1)))
  FROM (SELECT) one LEFT JOIN task_requests r ON r.task_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER notify_due_task AFTER INSERT OR UPDATE OF state, due_at, quarantined ON tasks FOR EACH ROW
  WHEN (NEW.state IN ('pending', 'retrying') AND NOT NEW.quarantined AND NEW.due_at < now() + interval '15 seconds')
  EXECUTE FUNCTION notify_due_task();

-- Notifies dispatchers of new messages.
CREATE FUNCTION notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY belfry_outbox;
  RETURN NULL;
END $$;

CREATE TRIGGER notify_outbox AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION notify_outbox();
