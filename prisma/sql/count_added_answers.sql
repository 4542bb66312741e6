-- Counts stored responses of idempotency keys as storage.
CREATE OR REPLACE FUNCTION count_added_answers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(octet_length(answer)) FROM added GROUP BY workspace_id HAVING sum(octet_length(answer)) > 0;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER count_inserted AFTER INSERT ON idempotency_keys REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_added_answers();

CREATE OR REPLACE TRIGGER count_updated AFTER UPDATE ON idempotency_keys REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_added_answers();
