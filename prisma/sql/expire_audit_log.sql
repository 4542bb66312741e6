-- Deletes up to max_deleted entries of an organization that are older than the given days, the oldest first.
-- Runs with the rights of its owner: roles that may call it cannot delete entries in another way.
CREATE OR REPLACE FUNCTION expire_audit_log(organization uuid, days integer, max_deleted integer) RETURNS integer
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
