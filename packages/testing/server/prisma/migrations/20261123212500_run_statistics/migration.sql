-- How many attempts of a workspace started within a minute or an hour, by their lag. Counts of any range are sums of rows,
-- and so is its histogram of lags. lag_bucket: see src/run-statistics/lag-buckets.ts.
CREATE TABLE run_statistics (
  workspace_id uuid NOT NULL,
  -- The length of the period in minutes: 1 or 60.
  period smallint NOT NULL,
  starts_at timestamptz(3) NOT NULL,
  lag_bucket smallint NOT NULL,
  total bigint NOT NULL,
  failed bigint NOT NULL,
  PRIMARY KEY (workspace_id, period, starts_at, lag_bucket)
) WITH (fillfactor = 70);
-- For the retention.
CREATE INDEX run_statistics_period_starts_at_idx ON run_statistics (period, starts_at);

-- Written in the transaction that writes the runs, and folded into run_statistics within seconds: like usage_changes. A run
-- can neither be left out nor count twice, in whatever order transactions commit.
CREATE TABLE run_changes (
  workspace_id uuid NOT NULL,
  -- The minute in which the attempts started.
  minute timestamptz(3) NOT NULL,
  failed boolean NOT NULL,
  -- 1, or -1 for runs that no longer have this start or status.
  weight smallint NOT NULL,
  lags_ms integer[]
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Runs from before this migration have NULL and are counted by the backfill. The triggers below count every later run, also
-- those of processes of the previous version. No run is in between, because this statement locks the table until the commit.
ALTER TABLE runs ADD COLUMN in_statistics boolean;
ALTER TABLE runs ALTER COLUMN in_statistics SET DEFAULT true;

CREATE FUNCTION run_lag_ms(scheduled_at timestamptz, started_at timestamptz) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT least(greatest(extract(epoch FROM started_at - scheduled_at) * 1000, 0), 2147483647)::integer
$$;

-- Once for each statement, not for each run.
CREATE FUNCTION count_new_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_changes (workspace_id, minute, failed, weight, lags_ms)
  SELECT workspace_id, date_bin('1 minute', started_at, 'epoch'), status = 'failed', 1,
         array_agg(run_lag_ms(scheduled_at, started_at))
  FROM new_runs GROUP BY 1, 2, 3;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_new_runs AFTER INSERT ON runs REFERENCING NEW TABLE AS new_runs
  FOR EACH STATEMENT EXECUTE FUNCTION count_new_runs();

-- The late outcome of a lost attempt replaces the status and the start of its run.
CREATE FUNCTION count_changed_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_changes (workspace_id, minute, failed, weight, lags_ms)
  SELECT workspace_id, date_bin('1 minute', started_at, 'epoch'), status = 'failed', weight,
         array_agg(run_lag_ms(scheduled_at, started_at))
  FROM (
    SELECT -1 AS weight, * FROM old_runs UNION ALL SELECT 1, * FROM new_runs
  ) changed WHERE in_statistics GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_changed_runs AFTER UPDATE ON runs REFERENCING OLD TABLE AS old_runs NEW TABLE AS new_runs
  FOR EACH STATEMENT EXECUTE FUNCTION count_changed_runs();

-- How far the backfill has counted the runs from before this migration, in the order of their primary key.
CREATE TABLE run_statistics_backfill (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  workspace_id uuid NOT NULL,
  run_id uuid NOT NULL,
  finished_at timestamptz(3)
);
INSERT INTO run_statistics_backfill (workspace_id, run_id)
VALUES ('00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000');
