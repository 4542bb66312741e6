-- Makes the next blocked tasks of queues due, as many as have a permit now or, with a rate limit, within the
-- next 1.8 seconds, and returns their number. The claim decides again, so this is only the wake-up.
-- `max_moves` limits it for each queue. Tasks that are due already take the first permits, unless they have
-- been due for two seconds: such a task waits for something else, such as a host, and must not delay the
-- queue.
CREATE OR REPLACE FUNCTION advance_queues(ids uuid[], max_moves integer) RETURNS bigint LANGUAGE plpgsql AS $$
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
BEGIN
  FOR q IN SELECT * FROM queues WHERE id = ANY (ids) ORDER BY id FOR UPDATE LOOP
    IF q.paused_at IS NOT NULL THEN
      UPDATE queues SET advance_at = NULL WHERE id = q.id AND advance_at IS NOT NULL;
      CONTINUE;
    END IF;
    SELECT t.id, t.execute_at INTO oldest FROM tasks t
    WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
    ORDER BY t.execute_at, t.id LIMIT 1;
    IF oldest.id IS NULL THEN
      IF q.advance_at IS NOT NULL THEN UPDATE queues SET advance_at = NULL WHERE id = q.id; END IF;
      CONTINUE;
    END IF;
    free := least(CASE WHEN q.ordered THEN 1 ELSE coalesce(q.max_concurrent, max_moves) END, max_moves);
    SELECT count(*) INTO used FROM (
      SELECT FROM tasks t
      WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 2
      LIMIT CASE WHEN q.ordered THEN 1 ELSE q.max_concurrent END
    ) in_flight;
    IF q.ordered OR q.max_concurrent IS NOT NULL THEN
      free := least(CASE WHEN q.ordered THEN 1 ELSE q.max_concurrent END - used, max_moves);
    END IF;
    clock := clock_timestamp()::timestamptz(3);
    IF q.ordered THEN
      -- A held task keeps its place.
      SELECT count(*) INTO awake FROM (
        SELECT FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) IN (0, 3)
          AND (t.execute_at, t.id) < (oldest.execute_at, oldest.id) LIMIT 1
      ) in_front;
    ELSE
      SELECT count(*) INTO awake FROM (
        SELECT FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 0
          AND t.execute_at <= clock AND t.due_at > clock - interval '2 seconds' AND t.due_at <= clock + lead
        LIMIT coalesce(q.max_concurrent, q.rate_count, max_moves)
      ) due;
    END IF;
    free := greatest(free - awake, 0);
    next_at := NULL;
    IF q.rate_count IS NULL THEN
      WITH chosen AS (
        SELECT t.id FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
        ORDER BY t.execute_at, t.id LIMIT free FOR UPDATE SKIP LOCKED
      )
      UPDATE tasks t SET due_at = clock, waits_for = 0 FROM chosen WHERE t.id = chosen.id;
      GET DIAGNOSTICS moved = ROW_COUNT;
      -- There may be more, and no claim of a queue without limits wakes them.
      IF moved = free AND q.max_concurrent IS NULL AND NOT q.ordered THEN next_at := clock + interval '0.2 seconds'; END IF;
    ELSE
      period := q.rate_period_ms * interval '1 millisecond';
      SELECT coalesce(sum(s.starts), 0) INTO used FROM queue_starts s WHERE s.queue_id = q.id AND s.at > clock - period;
      WITH permit AS (
        SELECT p.available_at, row_number() OVER (ORDER BY p.available_at) AS place FROM (
          SELECT free_now.available_at FROM (
            SELECT clock AS available_at FROM generate_series(1, least(q.rate_count - used, max_moves + awake))
            UNION ALL
            SELECT s.at + period FROM (
              SELECT at, sum(starts) AS starts FROM queue_starts
              WHERE queue_id = q.id AND at > clock - period AND at + period <= clock + lead GROUP BY at
            ) s CROSS JOIN generate_series(1, s.starts)
          ) free_now
          ORDER BY free_now.available_at OFFSET awake + greatest(used - q.rate_count, 0) LIMIT free
        ) p
      ),
      chosen AS (
        SELECT t.id, t.execute_at FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
        ORDER BY t.execute_at, t.id LIMIT (SELECT count(*) FROM permit) FOR UPDATE SKIP LOCKED
      ),
      placed AS (SELECT chosen.id, row_number() OVER (ORDER BY chosen.execute_at, chosen.id) AS place FROM chosen)
      UPDATE tasks t SET due_at = permit.available_at, waits_for = 0 FROM placed JOIN permit USING (place) WHERE t.id = placed.id;
      GET DIAGNOSTICS moved = ROW_COUNT;
      SELECT s.at + period INTO next_at FROM queue_starts s WHERE s.queue_id = q.id AND s.at + period > clock + lead
      GROUP BY s.at HAVING sum(s.starts) > 0 ORDER BY s.at LIMIT 1;
      next_at := CASE WHEN next_at IS NOT NULL THEN greatest(next_at - lead, clock + interval '0.2 seconds') END;
    END IF;
    IF q.advance_at IS DISTINCT FROM next_at THEN UPDATE queues SET advance_at = next_at WHERE id = q.id; END IF;
    total := total + moved;
  END LOOP;
  RETURN total;
END $$;
