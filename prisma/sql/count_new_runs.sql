-- Counts new runs for run_statistics, once for each statement.
CREATE OR REPLACE FUNCTION count_new_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_changes (workspace_id, minute, failed, weight, lags_ms, task_ids, durations_ms)
  SELECT workspace_id, date_bin('1 minute', started_at, 'epoch'), status = 'failed', 1,
         array_agg(run_lag_ms(scheduled_at, started_at)), array_agg(task_id), array_agg(run_lag_ms(started_at, finished_at))
  FROM new_runs GROUP BY 1, 2, 3;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER count_new_runs AFTER INSERT ON runs REFERENCING NEW TABLE AS new_runs
  FOR EACH STATEMENT EXECUTE FUNCTION count_new_runs();
