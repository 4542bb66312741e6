-- Notifies dispatchers of a task that becomes due within 15 seconds, whichever statement makes it wait.
-- Dispatchers without a queue read PostgreSQL at least every 9 seconds, so they need no notification of later
-- tasks. The payload: when the task is due in epoch milliseconds, its id, its workspace, the origin of its
-- URL, and `queue` when its queue has a limit or is paused.
CREATE OR REPLACE FUNCTION notify_due_task() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  word text;
BEGIN
  IF NEW.queue_id IS NOT NULL THEN
    SELECT 'queue' INTO word FROM queues q
    WHERE q.id = NEW.queue_id AND (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL OR q.paused_at IS NOT NULL);
  END IF;
  PERFORM pg_notify('belfry_due_task', concat_ws(' ', (extract(epoch FROM NEW.due_at) * 1000)::bigint, NEW.id,
    NEW.workspace_id, split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1),
    CASE WHEN r.url IS NOT NULL THEN word END))
  FROM (SELECT) one LEFT JOIN task_requests r ON r.task_id = NEW.id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER notify_due_task AFTER INSERT OR UPDATE OF state, due_at, quarantined, waits_for ON tasks FOR EACH ROW
  WHEN (NEW.state IN ('pending', 'retrying') AND NEW.waits_for = 0 AND NOT NEW.quarantined AND NEW.due_at < now() + interval '15 seconds')
  EXECUTE FUNCTION notify_due_task();
