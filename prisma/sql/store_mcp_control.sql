-- Stores a task that tells the client of an MCP subscription about the subscription itself, such as its end. It is signed and
-- retried like an event. `tell` is the body, as the draft defines it. The row of the subscription may be gone.
CREATE OR REPLACE FUNCTION store_mcp_control(s subscriptions, name text, tell json) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  new_id uuid := uuid_v7(clock_timestamp());
BEGIN
  INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
  VALUES (new_id, s.workspace_id, 'event', clock_timestamp(), clock_timestamp());
  INSERT INTO task_requests (task_id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms, max_delay_ms,
                             retry_delays, timeout_ms, labels, subscription_id)
  VALUES (new_id, name, s.url, 'POST', s.headers, tell::text, s.max_retries, s.backoff, s.base_delay_ms, s.max_delay_ms,
          s.retry_delays, s.timeout_ms, s.labels, s.id);
  INSERT INTO task_labels (workspace_id, label, task_id) SELECT s.workspace_id, label, new_id FROM unnest(s.labels) AS l (label);
  INSERT INTO usage_changes (workspace_id, storage_bytes) VALUES (s.workspace_id, octet_length(tell::text));
END
$$;
