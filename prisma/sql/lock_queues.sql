-- Locks queues for a claim, and returns how many attempts of each may start; null for any number. Each
-- statement of this function has a snapshot of its own, so it sees what the previous holder of the lock has
-- claimed. Attempts in flight are counted in `tasks`: a permit lives exactly as long as its attempt, and no
-- crash can leak one. `head`: the only task that may start in an ordered queue; none starts
-- behind a held one. `blocked_at`, `blocked_id`:
-- the oldest blocked task, which tasks behind it must not pass.
CREATE OR REPLACE FUNCTION lock_queues(ids uuid[]) RETURNS TABLE (
  queue_id uuid, locked_at timestamptz, permits bigint, is_rated boolean, is_ordered boolean, head uuid,
  blocked_at timestamptz, blocked_id uuid
) LANGUAGE plpgsql AS $$
DECLARE
  q queues;
  used bigint;
  head_at timestamptz;
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
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 2
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
      WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
      ORDER BY t.execute_at, t.id LIMIT 1;
      IF q.ordered THEN
        SELECT t.execute_at, t.id INTO head_at, head FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 0
        ORDER BY t.execute_at, t.id LIMIT 1;
        IF EXISTS (
          SELECT FROM tasks t
          WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 3
            AND (t.execute_at, t.id) < (head_at, head)
        ) THEN
          permits := 0;
          head := NULL;
        END IF;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
