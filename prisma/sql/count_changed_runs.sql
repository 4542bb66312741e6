-- Counts the change of a run: the late outcome of a lost attempt replaces the status and the start of its
-- run.
CREATE OR REPLACE FUNCTION count_changed_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_changes (workspace_id, minute, failed, weight, lags_ms, task_ids, durations_ms)
  SELECT workspace_id, date_bin('1 minute', started_at, 'epoch'), status = 'failed', weight,
         array_agg(run_lag_ms(scheduled_at, started_at)), array_agg(task_id), array_agg(run_lag_ms(started_at, finished_at))
  FROM (
    SELECT -1 AS weight, * FROM old_runs UNION ALL SELECT 1, * FROM new_runs
  ) changed GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER count_changed_runs AFTER UPDATE ON runs REFERENCING OLD TABLE AS old_runs NEW TABLE AS new_runs
  FOR EACH STATEMENT EXECUTE FUNCTION count_changed_runs();
