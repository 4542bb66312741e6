-- What a dispatcher may have in flight: in all, and to one host. Null for processes of the previous version.
ALTER TABLE dispatchers ADD COLUMN slots integer, ADD COLUMN permits_per_host integer;

-- Which schedulers live. Unlogged, like dispatchers: after a crash of PostgreSQL each enters itself again.
CREATE UNLOGGED TABLE schedulers (
  id uuid PRIMARY KEY,
  seen_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
