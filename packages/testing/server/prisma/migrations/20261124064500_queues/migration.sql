-- The queue that a task, and the tasks of a cron job or a subscription, wait in; null for most.
ALTER TABLE task_requests ADD COLUMN queue text;
ALTER TABLE cron_jobs ADD COLUMN queue text;
ALTER TABLE subscriptions ADD COLUMN queue text;

-- The hash of the workspace and the name, so a statement that stores a task needs no lookup.
ALTER TABLE tasks ADD COLUMN queue_id uuid;

CREATE TABLE queues (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE ON UPDATE CASCADE,
  name text NOT NULL,
  -- Limits; null for none.
  max_concurrent integer,
  rate_count integer,
  rate_period_ms integer,
  ordered boolean NOT NULL DEFAULT false,
  paused_at timestamptz(3),
  -- When the scheduler must look for the next permit of the rate limit; null when no task waits for one.
  advance_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX queues_workspace_id_name_key ON queues (workspace_id, name);
CREATE INDEX queues_advance_at_idx ON queues (advance_at) WHERE advance_at IS NOT NULL;

-- The attempts that queues with a rate limit started within their period.
CREATE TABLE queue_starts (
  queue_id uuid NOT NULL,
  at timestamptz(3) NOT NULL,
  starts integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX queue_starts_queue_id_at_idx ON queue_starts (queue_id, at);

-- A task that its queue does not let start is blocked: its due time is moved 2,000 years ahead, so no search for due work
-- finds it. Tasks that `hold-overdue` holds are 10,000 years ahead.

-- Where an unfinished task is: 0 waits for its time or a dispatcher, 1 blocked, 2 in flight, 3 held.
CREATE FUNCTION queue_phase(state task_state, due_at timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN state = 'processing' THEN 2 WHEN due_at >= '9000-01-01 00:00:00+00' THEN 3
              WHEN due_at >= '3000-01-01 00:00:00+00' THEN 1 ELSE 0 END
$$;

-- Locks queues for a claim, and returns how many attempts of each may start; null for any number. Each statement of this
-- function has a snapshot of its own, so it sees what the previous holder of the lock has claimed. Attempts in flight are
-- counted in `tasks`: a permit lives exactly as long as its attempt, and no crash can leak one.
-- `head`: the only task that may start in an ordered queue. `blocked_at`, `blocked_id`: the oldest blocked task, which tasks
-- behind it must not pass.
CREATE FUNCTION lock_queues(ids uuid[]) RETURNS TABLE (
  queue_id uuid, locked_at timestamptz, permits bigint, is_rated boolean, is_ordered boolean, head uuid,
  blocked_at timestamptz, blocked_id uuid
) LANGUAGE plpgsql AS $$
DECLARE
  q queues;
  used bigint;
BEGIN
  FOR q IN SELECT * FROM queues WHERE id = ANY (ids) ORDER BY id FOR UPDATE LOOP
    queue_id := q.id;
    permits := CASE WHEN q.paused_at IS NOT NULL THEN 0 WHEN q.ordered THEN 1 ELSE q.max_concurrent END;
    is_rated := q.rate_count IS NOT NULL;
    is_ordered := q.ordered;
    head := NULL;
    blocked_at := NULL;
    blocked_id := NULL;
    IF permits > 0 THEN
      SELECT count(*) INTO used FROM (
        SELECT FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.due_at) = 2
        LIMIT permits
      ) in_flight;
      permits := permits - used;
    END IF;
    locked_at := clock_timestamp()::timestamptz(3);
    IF is_rated AND permits IS DISTINCT FROM 0 THEN
      DELETE FROM queue_starts s
      WHERE s.queue_id = q.id AND s.at <= locked_at - q.rate_period_ms * interval '1 millisecond';
      SELECT coalesce(sum(s.starts), 0) INTO used FROM queue_starts s WHERE s.queue_id = q.id;
      permits := least(permits, greatest(q.rate_count - used, 0));
    END IF;
    IF permits IS DISTINCT FROM 0 THEN
      SELECT t.execute_at, t.id INTO blocked_at, blocked_id FROM tasks t
      WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.due_at) = 1
      ORDER BY t.execute_at, t.id LIMIT 1;
      IF q.ordered THEN
        SELECT t.id INTO head FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.due_at) = 0
        ORDER BY t.execute_at, t.id LIMIT 1;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

-- Makes the next blocked tasks of queues due, as many as have a permit now or, with a rate limit, within the next 1.8
-- seconds, and returns their number. The claim decides again, so this is only the wake-up. `max_moves` limits it for each
-- queue. Tasks that are due already take the first permits, unless they have been due for two seconds: such a task waits
-- for something else, such as a host, and must not delay the queue.
CREATE FUNCTION advance_queues(ids uuid[], max_moves integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  q queues;
  clock timestamptz;
  lead constant interval := interval '1.8 seconds';
  period interval;
  free bigint;
  used bigint;
  awake bigint;
  moved bigint;
  total bigint := 0;
  next_at timestamptz;
  oldest record;
  head record;
BEGIN
  FOR q IN SELECT * FROM queues WHERE id = ANY (ids) ORDER BY id FOR UPDATE LOOP
    CONTINUE WHEN q.paused_at IS NOT NULL;
    SELECT t.id, t.execute_at INTO oldest FROM tasks t
    WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.due_at) = 1
    ORDER BY t.execute_at, t.id LIMIT 1;
    IF oldest.id IS NULL THEN
      IF q.advance_at IS NOT NULL THEN UPDATE queues SET advance_at = NULL WHERE id = q.id; END IF;
      CONTINUE;
    END IF;
    free := least(CASE WHEN q.ordered THEN 1 ELSE coalesce(q.max_concurrent, max_moves) END, max_moves);
    SELECT count(*) INTO used FROM (
      SELECT FROM tasks t
      WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.due_at) = 2
      LIMIT CASE WHEN q.ordered THEN 1 ELSE q.max_concurrent END
    ) in_flight;
    IF q.ordered OR q.max_concurrent IS NOT NULL THEN
      free := least(CASE WHEN q.ordered THEN 1 ELSE q.max_concurrent END - used, max_moves);
    END IF;
    clock := clock_timestamp()::timestamptz(3);
    IF q.ordered THEN
      SELECT t.id, t.execute_at INTO head FROM tasks t
      WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.due_at) = 0
      ORDER BY t.execute_at, t.id LIMIT 1;
      awake := CASE WHEN head.id IS NOT NULL AND (head.execute_at, head.id) < (oldest.execute_at, oldest.id) THEN 1 ELSE 0 END;
    ELSE
      SELECT count(*) INTO awake FROM (
        SELECT FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.due_at) = 0
          AND t.execute_at <= clock AND t.due_at > clock - interval '2 seconds' AND t.due_at <= clock + lead
        LIMIT coalesce(q.max_concurrent, q.rate_count, max_moves)
      ) due;
    END IF;
    free := greatest(free - awake, 0);
    next_at := NULL;
    IF q.rate_count IS NULL THEN
      WITH chosen AS (
        SELECT t.id FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.due_at) = 1
        ORDER BY t.execute_at, t.id LIMIT free FOR UPDATE SKIP LOCKED
      )
      UPDATE tasks t SET due_at = clock FROM chosen WHERE t.id = chosen.id;
      GET DIAGNOSTICS moved = ROW_COUNT;
    ELSE
      period := q.rate_period_ms * interval '1 millisecond';
      SELECT coalesce(sum(s.starts), 0) INTO used FROM queue_starts s WHERE s.queue_id = q.id AND s.at > clock - period;
      WITH permit AS (
        SELECT p.available_at, row_number() OVER (ORDER BY p.available_at) AS place FROM (
          SELECT free_now.available_at FROM (
            SELECT clock AS available_at FROM generate_series(1, least(q.rate_count - used, max_moves + awake))
            UNION ALL
            SELECT s.at + period FROM queue_starts s CROSS JOIN generate_series(1, s.starts)
            WHERE s.queue_id = q.id AND s.at > clock - period AND s.at + period <= clock + lead
          ) free_now
          ORDER BY free_now.available_at OFFSET awake + greatest(used - q.rate_count, 0) LIMIT free
        ) p
      ),
      chosen AS (
        SELECT t.id, t.execute_at FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.due_at) = 1
        ORDER BY t.execute_at, t.id LIMIT (SELECT count(*) FROM permit) FOR UPDATE SKIP LOCKED
      ),
      placed AS (SELECT chosen.id, row_number() OVER (ORDER BY chosen.execute_at, chosen.id) AS place FROM chosen)
      UPDATE tasks t SET due_at = permit.available_at FROM placed JOIN permit USING (place) WHERE t.id = placed.id;
      GET DIAGNOSTICS moved = ROW_COUNT;
      SELECT min(s.at) + period INTO next_at FROM queue_starts s WHERE s.queue_id = q.id AND s.at + period > clock + lead;
      next_at := CASE WHEN next_at IS NOT NULL THEN greatest(next_at - lead, clock + interval '0.2 seconds') END;
    END IF;
    IF q.advance_at IS DISTINCT FROM next_at THEN UPDATE queues SET advance_at = next_at WHERE id = q.id; END IF;
    total := total + moved;
  END LOOP;
  RETURN total;
END $$;

-- As in 20261123060000, with a fifth word for a task whose queue has a limit or is paused.
CREATE OR REPLACE FUNCTION notify_due_task() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  word text;
BEGIN
  IF NEW.queue_id IS NOT NULL THEN
    SELECT 'queue' INTO word FROM queues q
    WHERE q.id = NEW.queue_id AND (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL OR q.paused_at IS NOT NULL);
  END IF;
  PERFORM pg_notify('belfry_due_task', concat_ws(' ', (extract(epoch FROM NEW.due_at) * 1000)::bigint, NEW.id,
    NEW.workspace_id, split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1),
    CASE WHEN r.url IS NOT NULL THEN word END))
  FROM (SELECT) one LEFT JOIN task_requests r ON r.task_id = NEW.id;
  RETURN NULL;
END $$;
