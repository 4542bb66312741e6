-- Creates the partitions of this month and of the months after it. Safe to call at any time by any number of
-- callers. A month whose runs came before its partition stays in the default partition, which loses nothing.
CREATE OR REPLACE FUNCTION create_run_partitions(months_ahead integer) RETURNS void LANGUAGE plpgsql SET timezone = 'UTC' AS $$
DECLARE
  month timestamptz;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('create_run_partitions'));
  FOR i IN 0..months_ahead LOOP
    month := date_trunc('month', now()) + make_interval(months => i);
    name := 'runs_' || to_char(month, 'YYYY_MM');
    CONTINUE WHEN to_regclass('run_partitions.' || name) IS NOT NULL;
    BEGIN
      EXECUTE format(
        'CREATE TABLE run_partitions.%I PARTITION OF runs FOR VALUES FROM (%L) TO (%L)',
        name, uuid_v7_floor(month), uuid_v7_floor(month + interval '1 month'));
    EXCEPTION WHEN check_violation THEN
      RAISE WARNING 'The runs of % stay in the default partition.', to_char(month, 'YYYY-MM');
    END;
  END LOOP;
END
$$;

-- The dispatchers may store runs before a scheduler has started.
SELECT create_run_partitions(3);
