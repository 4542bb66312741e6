-- Cancels the occurrences of some cron jobs that no dispatcher could start in time.
-- Sent by cancelMissed.

WITH jobs AS (
  SELECT j.id,
         CASE catch_up WHEN 'latest' THEN 1 WHEN 'all' THEN 100 WHEN 'none' THEN 0 END - coalesce(u.count, 0) AS kept,
         catch_up <> 'none' AND j.next_run_at < $2 AND u.id IS NULL AS is_outdated
  FROM cron_jobs j LEFT JOIN unnest($5::uuid[], $6::timestamptz[], $7::int[]) AS u (id, next_run_at, count)
    ON u.id = j.id AND u.next_run_at = j.next_run_at
  WHERE j.id > $3 ORDER BY j.id LIMIT $4
),
missed AS MATERIALIZED (
  SELECT t.id FROM jobs j CROSS JOIN LATERAL (
    SELECT t.id FROM tasks t
    WHERE t.cron_job_id = j.id AND t.finished_at IS NULL AND t.occurrence_at IS NOT NULL AND t.state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled') AND t.waits_for = 0
      AND t.execute_at > $1 AND t.execute_at < $2
    ORDER BY t.execute_at DESC OFFSET j.kept
  ) t
  WHERE NOT j.is_outdated
),
locked AS (
  SELECT t.id FROM missed m CROSS JOIN LATERAL (
    SELECT t.id FROM tasks t WHERE t.id = m.id AND t.state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled') AND t.waits_for = 0 FOR UPDATE SKIP LOCKED
  ) t
),
cancelled AS (
  UPDATE tasks t SET state = 'cancelled', state_reason = 'missed', finished_at = now(), updated_at = now()
  FROM locked WHERE t.id = locked.id
  RETURNING t.id
)
SELECT (SELECT id FROM jobs ORDER BY id DESC LIMIT 1) AS last, ARRAY (SELECT id FROM cancelled) AS ids,
       coalesce((SELECT bool_or(is_outdated) FROM jobs), false) AS "isOutdated"
