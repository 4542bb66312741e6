-- Stores the callbacks of a task in the statement that ends its attempt, or that makes it dead without one.
-- Each is a task of its own, due at once, and has no callbacks. It is as deep as its task, so callbacks
-- cannot hide a loop of calls. Callbacks of messages of the QStash interface are messages too, with their own
-- method and delay. Their ids have version 8, by which dispatchers know them. The payload is the rows that the callback reports; packages/present makes its body of them.
CREATE OR REPLACE FUNCTION store_callbacks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- An undone claim has no run. A lost attempt ends a second time when its real outcome arrives.
  attempt_ended boolean := coalesce(NEW.run_id = OLD.run_id
    AND (OLD.state = 'processing' OR OLD.quarantined AND NEW.state_reason IS NULL), false);
BEGIN
  WITH latest AS MATERIALIZED (
    SELECT to_jsonb(u) - 'request_headers' || jsonb_build_object('cron_job_timezone', c.timezone) AS run
    FROM runs u LEFT JOIN cron_jobs c ON c.id = u.cron_job_id AND c.workspace_id = u.workspace_id
    WHERE u.task_id = NEW.id AND u.id >= uuid_v7_floor(NEW.created_at) ORDER BY u.id DESC LIMIT 1
  ),
  called AS MATERIALIZED (
    SELECT overlay(uuid_v7(clock_timestamp())::text PLACING '8' FROM 15)::uuid AS id, callback, callback -> 'retry' AS retry, given.name, r.traceparent, r.depth,
           json_build_object('event', event, 'task', to_jsonb(NEW), 'request', to_jsonb(r), 'run', (SELECT run FROM latest))::text
             AS payload,
           r.qstash::json #> ARRAY['callbacks', event] AS qstash,
           nullif(greatest(octet_length(given.name) + octet_length(callback ->> 'url') + octet_length(callback ->> 'headers')
                           - 1024, 0), 0) AS extra_bytes
    FROM task_requests r CROSS JOIN json_each(r.callbacks::json) AS c (event, callback)
    CROSS JOIN LATERAL (SELECT left(event || ' of ' || r.name, 200) AS name) given
    WHERE r.task_id = NEW.id AND CASE event WHEN 'on_attempt' THEN attempt_ended
                                            WHEN 'on_success' THEN NEW.state = 'success'
                                            WHEN 'on_failure' THEN NEW.state = 'dead' END
  ),
  timed AS MATERIALIZED (
    SELECT id, clock_timestamp() + coalesce((qstash ->> 'delayMs')::bigint, 0) * interval '1 millisecond' AS at FROM called
  ),
  inserted AS (
    INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, callback_of)
    SELECT id, NEW.workspace_id, 'callback', at, at, NEW.id FROM timed
  ),
  requested AS (
    INSERT INTO task_requests (task_id, name, url, method, headers, payload, is_report, max_retries, backoff,
                               base_delay_ms, max_delay_ms, retry_delays, timeout_ms, traceparent, depth, qstash, extra_bytes)
    SELECT id, name, callback ->> 'url', coalesce(qstash ->> 'method', 'POST'), callback ->> 'headers', payload, true,
           coalesce((retry ->> 'max_retries')::smallint, json_array_length(retry -> 'delays_ms')),
           coalesce(retry ->> 'backoff', 'exponential')::backoff, coalesce((retry ->> 'base_delay_ms')::integer, 10000),
           coalesce((retry ->> 'max_delay_ms')::integer, 3600000), retry ->> 'delays_ms',
           (callback ->> 'timeout_ms')::integer, traceparent, depth, qstash ->> 'message', extra_bytes
    FROM called
  )
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT NEW.workspace_id, sum(octet_length(payload) + coalesce(extra_bytes, 0)) FROM called HAVING count(*) > 0;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER store_callbacks AFTER UPDATE OF state ON tasks FOR EACH ROW
  WHEN (NEW.has_callbacks AND NEW.state IN ('success', 'dead', 'retrying') AND OLD.state IN ('processing', 'pending', 'retrying')
        AND (OLD.state = 'processing' OR OLD.quarantined OR NEW.state = 'dead'))
  EXECUTE FUNCTION store_callbacks();
