-- Cancels a task whose MCP subscription was deleted during its attempt, instead of the retry. A task that has ended in another way
-- loses the reason that end_mcp_subscriptions has set.
CREATE OR REPLACE FUNCTION end_mcp_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  has_ended boolean := NEW.state IN ('success', 'dead');
BEGIN
  UPDATE tasks
  SET state = CASE WHEN has_ended THEN state ELSE 'cancelled' END, state_reason = CASE WHEN NOT has_ended THEN state_reason END,
      finished_at = coalesce(finished_at, clock_timestamp()), quarantined = false
  WHERE id = NEW.id AND state = NEW.state;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER end_mcp_attempts AFTER UPDATE OF state ON tasks FOR EACH ROW
  WHEN (OLD.state = 'processing' AND NEW.state IN ('pending', 'retrying', 'success', 'dead') AND NEW.state_reason = 'subscription_deleted')
  EXECUTE FUNCTION end_mcp_attempts();
