-- Where new audit entries are sent: the webhook of an organization. The nil UUID stands for the file of the operators, which
-- has no target and receives the entries of all organizations and those of operators.
CREATE TABLE audit_streams (
  organization_id uuid PRIMARY KEY,
  shown_target    text,
  -- The URL and the signing secrets, encrypted with a data key of their own.
  sealed_target   bytea,
  master_key_id   text,
  wrapped_key     bytea,
  -- The latest message with entries, and how many entries it has.
  message_id      uuid,
  message_entries integer NOT NULL DEFAULT 0,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  updated_at      timestamptz(3) NOT NULL DEFAULT now()
);

-- The entries that a stream has still to send. They appear with the commit of their transaction, so a slow commit loses none.
-- No foreign key, because its lock would let the end of a stream fail the actions that are being recorded.
CREATE TABLE audit_stream_entries (
  organization_id uuid NOT NULL,
  entry_id        uuid NOT NULL,
  PRIMARY KEY (organization_id, entry_id)
);

-- Runs with the rights of its owner, because processes of the previous release have none on these tables.
CREATE FUNCTION stream_audit_entries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO audit_stream_entries (organization_id, entry_id)
  SELECT s.organization_id, a.id
  FROM added a JOIN audit_streams s ON s.organization_id IN (a.organization_id, '00000000-0000-0000-0000-000000000000');
  RETURN NULL;
END
$$;

CREATE FUNCTION stream_operator_entries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO audit_stream_entries (organization_id, entry_id)
  SELECT s.organization_id, a.id
  FROM added a JOIN audit_streams s ON s.organization_id = '00000000-0000-0000-0000-000000000000';
  RETURN NULL;
END
$$;

CREATE TRIGGER stream_added AFTER INSERT ON audit_log REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION stream_audit_entries();
CREATE TRIGGER stream_added AFTER INSERT ON operator_log REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION stream_operator_entries();
