-- Frees the storage of responses of idempotency keys that were replaced or deleted.
CREATE OR REPLACE FUNCTION count_removed_answers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, -sum(octet_length(answer)) FROM removed WHERE is_counted
  GROUP BY workspace_id HAVING sum(octet_length(answer)) > 0;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER count_replaced AFTER UPDATE ON idempotency_keys REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_removed_answers();

CREATE OR REPLACE TRIGGER count_deleted AFTER DELETE ON idempotency_keys REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_removed_answers();
