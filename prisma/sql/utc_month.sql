-- The calendar month of UTC, by its first day.
CREATE OR REPLACE FUNCTION utc_month(at timestamptz) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT date_trunc('month', at AT TIME ZONE 'UTC')::date
$$;
