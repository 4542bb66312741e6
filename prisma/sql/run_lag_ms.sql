-- The milliseconds between two times of an attempt: how late it started, or how long it took.
CREATE OR REPLACE FUNCTION run_lag_ms(scheduled_at timestamptz, started_at timestamptz) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT least(greatest(extract(epoch FROM started_at - scheduled_at) * 1000, 0), 2147483647)::integer
$$;
