-- Notifies dispatchers of new messages.
CREATE OR REPLACE FUNCTION notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY belfry_outbox;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER notify_outbox AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION notify_outbox();
