-- Cancels what a deleted MCP subscription has not sent: its reminders, its events and their retries. Runs with the rights of
-- its owner, because not every service may delete a cron job.
CREATE OR REPLACE FUNCTION end_mcp_subscriptions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM cron_jobs j USING removed d WHERE d.mcp IS NOT NULL AND j.subscription_id = d.id;
  UPDATE tasks t SET state = 'cancelled', state_reason = 'subscription_deleted', quarantined = false,
                     finished_at = clock_timestamp(), updated_at = clock_timestamp()
  FROM removed d JOIN task_requests r ON r.subscription_id = d.id
  WHERE d.mcp IS NOT NULL AND t.id = r.task_id AND t.state NOT IN ('processing', 'success', 'dead', 'cancelled');
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER end_mcp_subscriptions AFTER DELETE ON subscriptions REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION end_mcp_subscriptions();
