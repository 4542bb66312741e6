-- Which dispatchers live, and which prefetched claims they have let go. Unlogged: a restart of PostgreSQL empties both
-- tables, and what is not known of a claim then counts as sent.
CREATE UNLOGGED TABLE dispatchers (
  id uuid PRIMARY KEY,
  session uuid NOT NULL,
  quarantine boolean NOT NULL DEFAULT false,
  beats bigint NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE UNLOGGED TABLE sends (
  dispatcher_id uuid NOT NULL,
  seq bigint NOT NULL,
  run_ids uuid[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

ALTER TABLE tasks ADD COLUMN dispatcher_id uuid, ADD COLUMN prefetched boolean NOT NULL DEFAULT false,
  ADD COLUMN quarantined boolean NOT NULL DEFAULT false, ADD COLUMN lost smallint NOT NULL DEFAULT 0,
  ADD COLUMN lost_alone smallint NOT NULL DEFAULT 0;
