-- Fills an empty, migrated database: 5,000,000 runs of 1,000,000 tasks in 100 workspaces over six monthly partitions.
-- Workspace 0 has 40 % of them. Half a percent failed; statuses 418 and 204 are rare on purpose.
DO $$
DECLARE
  month timestamptz;
BEGIN
  FOR i IN 1..5 LOOP
    month := date_trunc('month', now()) - make_interval(months => i);
    EXECUTE format(
      'CREATE TABLE run_partitions.%I PARTITION OF runs FOR VALUES FROM (%L) TO (%L)',
      'runs_' || to_char(month, 'YYYY_MM'), uuid_v7_floor(month), uuid_v7_floor(month + interval '1 month'));
  END LOOP;
END
$$;

CREATE FUNCTION pg_temp.an_id(kind text, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT ('00000000-0000-7000-' || kind || '-' || lpad(to_hex(n), 12, '0'))::uuid
$$;

INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                  request_headers, response_status, response_headers, response_body, response_bytes, error_code,
                  cron_job_id, topic)
SELECT uuid_v7(at), pg_temp.an_id('8000', w), pg_temp.an_id('9000', n / 5), 1 + n % 5,
       (CASE WHEN k < 300 THEN 'cron' WHEN k < 320 THEN 'event' ELSE 'task' END)::task_source,
       (CASE WHEN failed THEN 'failed' ELSE 'success' END)::run_status, at, at, at + interval '50 ms',
       '{"content-type":"application/json","user-agent":"Belfry/0.1.0"}',
       CASE WHEN failed THEN CASE WHEN n % 50000 < 200 THEN 418 ELSE 500 END
            WHEN n % 500000 = 10 THEN 204 ELSE 200 END,
       '{"content-type":"text/plain"}', 'ok', 2, CASE WHEN failed THEN 'http_status' END,
       CASE WHEN k < 300 THEN pg_temp.an_id('a000', k) END,
       CASE WHEN k BETWEEN 300 AND 319 THEN 'orders.' || (k - 300) END
FROM (
  SELECT n, n % 1000 AS k, n * 31 % 1009 < 5 AS failed, CASE WHEN n % 5 < 2 THEN 0 ELSE 1 + n * 7 % 99 END AS w,
         now() - interval '170 days' * (1 - n / 5000000.0) AS at
  FROM generate_series(1, 5000000) n
) g;

INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, finished_at)
SELECT pg_temp.an_id('9000', t), pg_temp.an_id('8000', CASE WHEN t % 5 < 2 THEN 0 ELSE 1 + t % 99 END), 'task',
       (CASE WHEN t % 10 = 0 THEN 'pending' WHEN t % 200 = 7 THEN 'dead' ELSE 'success' END)::task_state, 1,
       now() + interval '1 hour' * (t % 1000), now() + interval '1 hour', CASE WHEN t % 10 <> 0 THEN now() END
FROM generate_series(0, 1000000) t;

INSERT INTO task_requests (task_id, name, url, method, payload, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
SELECT pg_temp.an_id('9000', t), CASE WHEN t % 100000 = 5 THEN 'rare name ' ELSE 'reminder ' END || t,
       'https://example.com/hook', 'POST', '{"n":1}', 5, 'exponential', 10000, 3600000, 30000
FROM generate_series(0, 1000000) t;

VACUUM ANALYZE runs, tasks, task_requests;
