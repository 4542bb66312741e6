-- Cancels what a deleted MCP subscription has not sent: its reminders, its events and their retries. A call in flight keeps the
-- reason, for end_mcp_attempts. The client of a subscription that still received events is told its end; to be ended silently, a
-- subscription is deactivated first. Runs with the rights of its owner, because not every service may delete a cron job.
CREATE OR REPLACE FUNCTION end_mcp_subscriptions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM cron_jobs j USING removed d WHERE d.mcp IS NOT NULL AND j.subscription_id = d.id;
  -- In the order in which dispatchers record attempts.
  WITH open AS MATERIALIZED (
    SELECT t.id FROM removed d JOIN task_requests r ON r.subscription_id = d.id JOIN tasks t ON t.id = r.task_id
    WHERE d.mcp IS NOT NULL AND t.state NOT IN ('success', 'dead', 'cancelled') ORDER BY t.id FOR NO KEY UPDATE OF t
  )
  UPDATE tasks t SET state = CASE t.state WHEN 'processing' THEN t.state ELSE 'cancelled' END, state_reason = 'subscription_deleted',
                     finished_at = CASE WHEN t.state <> 'processing' THEN clock_timestamp() END,
                     quarantined = false, updated_at = clock_timestamp()
  FROM open WHERE t.id = open.id;
  PERFORM store_mcp_control(jsonb_populate_record(NULL::subscriptions, to_jsonb(d)), 'End of an MCP subscription', json_build_object(
    'type', 'terminated', 'error', json_build_object('code', -32012, 'message', 'The subscription was ended at the server.')))
  FROM removed d JOIN workspaces w ON w.id = d.workspace_id
  WHERE d.mcp IS NOT NULL AND d.active AND (d.expires_at IS NULL OR d.expires_at > now()) AND w.deleted_at IS NULL;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER end_mcp_subscriptions AFTER DELETE ON subscriptions REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION end_mcp_subscriptions();
