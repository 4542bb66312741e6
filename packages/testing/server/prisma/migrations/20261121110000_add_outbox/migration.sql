CREATE TYPE outbox_kind AS ENUM ('mail', 'webhook');

-- Messages to people: they leave this table as fast as their receivers take them.
CREATE TABLE outbox (
  id uuid PRIMARY KEY,
  kind outbox_kind NOT NULL,
  label text NOT NULL,
  content bytea,
  master_key_id text,
  wrapped_key bytea,
  due_at timestamptz(3) NOT NULL DEFAULT now(),
  attempts smallint NOT NULL DEFAULT 0,
  last_error text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  sent boolean NOT NULL DEFAULT false
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX outbox_due_at_idx ON outbox (kind, due_at) WHERE finished_at IS NULL;
CREATE INDEX outbox_finished_at_idx ON outbox (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX outbox_master_key_id_idx ON outbox (master_key_id) WHERE master_key_id IS NOT NULL;
