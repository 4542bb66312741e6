-- Adds new entries to the streams of their organization and of the operators. Runs with the rights of its
-- owner, because the services may not insert into audit_stream_entries.
CREATE OR REPLACE FUNCTION stream_audit_entries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO audit_stream_entries (organization_id, entry_id)
  SELECT s.organization_id, a.id
  FROM added a JOIN audit_streams s ON s.organization_id IN (a.organization_id, '00000000-0000-0000-0000-000000000000');
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER stream_added AFTER INSERT ON audit_log REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION stream_audit_entries();
