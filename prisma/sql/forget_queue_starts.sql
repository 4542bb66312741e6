-- Deletes the starts of a queue without a rate limit: no claim of the queue would delete them as their period ends.
CREATE OR REPLACE FUNCTION forget_queue_starts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM queue_starts WHERE queue_id = OLD.id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER forget_queue_starts AFTER DELETE ON queues
    FOR EACH ROW WHEN (OLD.rate_count IS NOT NULL) EXECUTE FUNCTION forget_queue_starts();

CREATE OR REPLACE TRIGGER forget_starts_without_rate AFTER UPDATE OF rate_count ON queues
    FOR EACH ROW WHEN (OLD.rate_count IS NOT NULL AND NEW.rate_count IS NULL) EXECUTE FUNCTION forget_queue_starts();
