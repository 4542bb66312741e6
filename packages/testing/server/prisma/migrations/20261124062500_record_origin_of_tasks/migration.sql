-- Who created a task or a cron job and who changed it last: a user or an API key, as the API shows its id.
ALTER TABLE "task_requests" ADD COLUMN "created_by" TEXT, ADD COLUMN "updated_by" TEXT;
ALTER TABLE "cron_jobs" ADD COLUMN "created_by" TEXT, ADD COLUMN "updated_by" TEXT;

-- How many calls of Belfry in a row led to the request that created the task. Null: none.
ALTER TABLE "task_requests" ADD COLUMN "depth" SMALLINT;

-- Stores the callbacks of a task in the statement that ends its attempt, or that makes it dead without one. Each is a task
-- of its own, due at once, and has no callbacks. It is as deep as its task, so callbacks cannot hide a loop of calls.
CREATE OR REPLACE FUNCTION store_callbacks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- An undone claim has no run. A lost attempt ends a second time when its real outcome arrives.
  attempt_ended boolean := coalesce(NEW.run_id = OLD.run_id
    AND (OLD.state = 'processing' OR OLD.quarantined AND NEW.state_reason IS NULL), false);
BEGIN
  WITH called AS MATERIALIZED (
    SELECT uuid_v7(clock_timestamp()) AS id, callback, callback -> 'retry' AS retry,
           left(event || ' of ' || r.name, 200) AS name, r.traceparent, r.depth, callback_payload(NEW, r) AS payload
    FROM task_requests r CROSS JOIN json_each(r.callbacks::json) AS c (event, callback)
    WHERE r.task_id = NEW.id AND CASE event WHEN 'on_attempt' THEN attempt_ended
                                            WHEN 'on_success' THEN NEW.state = 'success'
                                            WHEN 'on_failure' THEN NEW.state = 'dead' END
  ),
  inserted AS (
    INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, callback_of)
    SELECT id, NEW.workspace_id, 'callback', clock_timestamp(), clock_timestamp(), NEW.id FROM called
  ),
  requested AS (
    INSERT INTO task_requests (task_id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms,
                               max_delay_ms, timeout_ms, traceparent, depth)
    SELECT id, name, callback ->> 'url', 'POST', callback ->> 'headers', payload, (retry ->> 'max_retries')::smallint,
           (retry ->> 'backoff')::backoff, (retry ->> 'base_delay_ms')::integer, (retry ->> 'max_delay_ms')::integer,
           (callback ->> 'timeout_ms')::integer, traceparent, depth
    FROM called
  )
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT NEW.workspace_id, sum(octet_length(payload)) FROM called HAVING count(*) > 0;
  RETURN NULL;
END
$$;
