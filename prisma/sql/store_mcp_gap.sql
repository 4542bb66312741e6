-- Tells the client of an MCP subscription that an event is lost: its callback has not accepted it in all attempts. One message is
-- enough for all events that are lost until it arrives. Not after 410, with which the callback wants no more calls. The cursor has no
-- meaning to Belfry. Runs with the rights of its owner, because not every service may read subscriptions.
CREATE OR REPLACE FUNCTION store_mcp_gap() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM store_mcp_control(s, 'Gap of an MCP subscription', json_build_object('type', 'gap', 'cursor', NEW.id))
  FROM task_requests r JOIN subscriptions s ON s.id = r.subscription_id
  WHERE r.task_id = NEW.id AND r.is_report AND s.mcp IS NOT NULL AND s.active AND (s.expires_at IS NULL OR s.expires_at > now())
    AND NOT EXISTS (
      SELECT FROM runs u WHERE u.workspace_id = NEW.workspace_id AND u.id = NEW.run_id AND u.response_status = 410
    )
    AND NOT EXISTS (
      SELECT FROM task_requests o JOIN tasks t ON t.id = o.task_id
      WHERE o.subscription_id = s.id AND o.name = 'Gap of an MCP subscription' AND t.state IN ('pending', 'processing', 'retrying')
    );
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER store_mcp_gap AFTER UPDATE OF state ON tasks FOR EACH ROW
  WHEN (NEW.state = 'dead' AND OLD.state IN ('pending', 'processing', 'retrying')) EXECUTE FUNCTION store_mcp_gap();
