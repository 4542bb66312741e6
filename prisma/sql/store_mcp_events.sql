-- Stores a task for each MCP subscription to what has happened to a task: it is dead, an attempt failed, or an occurrence was
-- missed. It runs in the statement that makes it so. A workspace without such a subscription costs a look-up in the index of
-- topics. Callbacks, and so these tasks, make no events, and other calls of an MCP subscription make none: an event must not
-- follow from an event. packages/present makes the body. Runs with the rights of its owner, because not every service may read
-- subscriptions.
CREATE OR REPLACE FUNCTION store_mcp_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  happened text[] := ARRAY[CASE NEW.state WHEN 'dead' THEN '@task.dead' WHEN 'cancelled' THEN '@cron.missed' END,
                           CASE WHEN NEW.run_id = OLD.run_id AND OLD.state = 'processing' AND NOT NEW.quarantined THEN '@run.failed' END];
BEGIN
  -- Most workspaces have none, and to start the statement below costs more than to record the attempt.
  IF NOT EXISTS (SELECT FROM subscriptions WHERE workspace_id = NEW.workspace_id AND active AND topic = ANY (happened)) THEN
    RETURN NULL;
  END IF;
  WITH chosen AS MATERIALIZED (
    SELECT uuid_v7(clock_timestamp()) AS id, s.id AS subscription_id, s.url, s.headers, s.labels, s.max_retries, s.backoff,
           s.base_delay_ms, s.max_delay_ms, s.retry_delays, s.timeout_ms, r.traceparent, r.depth,
           left((s.mcp ->> 'name') || ' of ' || r.name, 200) AS name,
           json_build_object('event', 'on_failure', 'mcp', s.mcp -> 'name', 'task', to_jsonb(NEW),
                             'request', to_jsonb(r) || '{"payload": null, "callbacks": null}', 'run', (
             SELECT to_jsonb(u) - '{request_headers,response_headers,response_body}'::text[] FROM runs u
             WHERE u.task_id = NEW.id AND u.id >= uuid_v7_floor(NEW.created_at) ORDER BY u.id DESC LIMIT 1
           ))::text AS payload
    FROM subscriptions s CROSS JOIN LATERAL (SELECT * FROM task_requests WHERE task_id = NEW.id OFFSET 0) r
    WHERE s.workspace_id = NEW.workspace_id AND s.active AND s.topic = ANY (happened) AND s.paused_reason IS NULL
      AND (s.expires_at IS NULL OR s.expires_at > now()) AND to_jsonb(r) || to_jsonb(NEW) @> (s.mcp -> 'match')
      -- A task of a subscription to published events has their id, and names the subscription while that fails.
      AND (r.subscription_id IS NULL OR (NEW.event_id IS NOT NULL AND r.is_report IS NOT TRUE))
  ),
  inserted AS (
    INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, callback_of)
    SELECT id, NEW.workspace_id, 'callback', clock_timestamp(), clock_timestamp(), NEW.id FROM chosen
  ),
  requested AS (
    INSERT INTO task_requests (task_id, name, url, method, headers, payload, is_report, max_retries, backoff, base_delay_ms,
                               max_delay_ms, retry_delays, timeout_ms, traceparent, depth, labels, subscription_id)
    SELECT id, name, url, 'POST', headers, payload, true, max_retries, backoff, base_delay_ms,
           max_delay_ms, retry_delays, timeout_ms, traceparent, depth, labels, subscription_id
    FROM chosen
  ),
  labelled AS (
    INSERT INTO task_labels (workspace_id, label, task_id)
    SELECT NEW.workspace_id, label, id FROM chosen CROSS JOIN LATERAL unnest(labels) AS l (label)
  )
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT NEW.workspace_id, sum(octet_length(payload)) FROM chosen HAVING count(*) > 0;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER store_mcp_events AFTER UPDATE OF state ON tasks FOR EACH ROW
  WHEN (NEW.state IN ('dead', 'retrying', 'cancelled') AND OLD.state IN ('pending', 'processing', 'retrying') AND NEW.source <> 'callback'
        AND (NEW.state <> 'retrying' OR OLD.state = 'processing') AND (NEW.state <> 'cancelled' OR NEW.state_reason = 'missed'))
  EXECUTE FUNCTION store_mcp_events();

CREATE OR REPLACE TRIGGER store_mcp_events_of_new AFTER INSERT ON tasks FOR EACH ROW
  WHEN (NEW.state = 'cancelled' AND NEW.state_reason = 'missed') EXECUTE FUNCTION store_mcp_events();
