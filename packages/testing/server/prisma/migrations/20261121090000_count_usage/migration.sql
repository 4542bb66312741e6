-- The calendar month of UTC, by its first day.
CREATE FUNCTION utc_month(at timestamptz) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT date_trunc('month', at AT TIME ZONE 'UTC')::date
$$;

ALTER TABLE organizations ADD CONSTRAINT organizations_tier CHECK (tier IN ('free', 'startup', 'scaleup', 'unicorn'));

-- Claims of one organization take turns at its row of the month. Room on the page keeps the index out of it.
CREATE TABLE usage (
  month date NOT NULL,
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  executions bigint NOT NULL,
  wanted integer NOT NULL,
  granted integer NOT NULL,
  execution_limit bigint NOT NULL,
  PRIMARY KEY (month, organization_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE usage_days (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  day date NOT NULL,
  executions bigint NOT NULL,
  failed bigint NOT NULL,
  PRIMARY KEY (organization_id, day)
) WITH (fillfactor = 70);

CREATE TABLE storage (
  organization_id uuid PRIMARY KEY REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  bytes bigint NOT NULL,
  corrected_at timestamptz(3) NOT NULL DEFAULT now()
) WITH (fillfactor = 70);
CREATE INDEX storage_corrected_at_idx ON storage (corrected_at);
-- What is stored already is counted by the first correction.
INSERT INTO storage (organization_id, bytes, corrected_at) SELECT id, 0, 'epoch' FROM organizations;

-- Written beside the work that it counts, folded into the three tables above within seconds, and then deleted: so many
-- rows come and go that only an eager vacuum keeps the table small. No key: rows are taken from wherever they lie.
CREATE TABLE usage_changes (
  workspace_id uuid NOT NULL,
  storage_bytes bigint NOT NULL DEFAULT 0,
  executions integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  changed_at timestamptz(3) NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TYPE quota_resource AS ENUM ('executions', 'storage');

CREATE TABLE quota_crossings (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  month date NOT NULL,
  resource quota_resource NOT NULL,
  percent smallint NOT NULL,
  crossed_at timestamptz(3) NOT NULL DEFAULT now(),
  announced_at timestamptz(3),
  PRIMARY KEY (organization_id, month, resource, percent)
);
CREATE INDEX quota_crossings_unannounced_idx ON quota_crossings (crossed_at) WHERE announced_at IS NULL;
