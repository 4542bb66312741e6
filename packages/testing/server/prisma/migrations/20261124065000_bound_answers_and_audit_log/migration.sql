-- The answers that idempotency keys keep count as storage. Those from before are not counted, so their end frees nothing.
ALTER TABLE idempotency_keys ADD COLUMN is_counted boolean NOT NULL DEFAULT false;
ALTER TABLE idempotency_keys ALTER COLUMN is_counted SET DEFAULT true;

CREATE FUNCTION count_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.is_counted := true;
  RETURN NEW;
END
$$;
CREATE TRIGGER count_answer BEFORE UPDATE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION count_answer();

CREATE FUNCTION count_added_answers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(octet_length(answer)) FROM added GROUP BY workspace_id HAVING sum(octet_length(answer)) > 0;
  RETURN NULL;
END
$$;
CREATE FUNCTION count_removed_answers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, -sum(octet_length(answer)) FROM removed WHERE is_counted
  GROUP BY workspace_id HAVING sum(octet_length(answer)) > 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_inserted AFTER INSERT ON idempotency_keys REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_added_answers();
CREATE TRIGGER count_updated AFTER UPDATE ON idempotency_keys REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_added_answers();
CREATE TRIGGER count_replaced AFTER UPDATE ON idempotency_keys REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_removed_answers();
CREATE TRIGGER count_deleted AFTER DELETE ON idempotency_keys REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_removed_answers();

-- Only expire_audit_log may delete entries, and none that is younger than 30 days.
CREATE OR REPLACE FUNCTION refuse_audit_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'audit_log' AND current_setting('belfry.expires_audit_log', true) = 'on' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'The audit log is append-only.';
END
$$;

-- Deletes up to max_deleted entries of an organization that are older than the given days, the oldest first. Runs with the
-- rights of its owner: roles that may call it cannot delete entries in another way.
CREATE FUNCTION expire_audit_log(organization uuid, days integer, max_deleted integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  deleted integer;
BEGIN
  PERFORM set_config('belfry.expires_audit_log', 'on', true);
  DELETE FROM audit_log WHERE id IN (
    SELECT id FROM audit_log
    WHERE organization_id = organization AND id < uuid_v7_floor(now() - greatest(days, 30) * interval '1 day')
    ORDER BY id LIMIT max_deleted
  );
  GET DIAGNOSTICS deleted = ROW_COUNT;
  PERFORM set_config('belfry.expires_audit_log', '', true);
  RETURN deleted;
END
$$;
