-- Ends the secrets of a deleted subscription in 30 days, because its tasks are still sent. Runs with the
-- rights of its owner, because not every service may change the table.
CREATE OR REPLACE FUNCTION end_subscription_secrets() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE subscription_secrets s SET expires_at = now() + interval '30 days'
  FROM removed r WHERE s.subscription_id = r.id AND s.expires_at IS NULL;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER end_secrets AFTER DELETE ON subscriptions REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION end_subscription_secrets();
