/** The parts of the claim that concern queues: see `limitedClaim`. */
export type QueueTexts = Record<keyof typeof limitedClaim, string>

/**
 * SQL: the queue of a task `t` with a queue has a limit or is paused. Tasks of other queues are claimed like tasks without a
 * queue.
 */
export const isQueued = `(SELECT (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL
           OR q.paused_at IS NOT NULL) FROM queues q WHERE q.id = t.queue_id)`

/** Tasks without a queue, and tasks whose queue has no limit. */
export const unlimitedClaim: QueueTexts = {
  columns: '',
  condition: `AND CASE WHEN t.queue_id IS NULL THEN true ELSE NOT coalesce(${isQueued}, false) END`,
  ready: '',
  after: '',
  counted: '',
  advances: 'NULL::uuid',
  blocked: '',
}

/** How many other due tasks of a full queue are blocked together with a refused one. */
const blockedTogether = 500

/**
 * Tasks of queues with limits. The statement locks their queues, so it waits for other claims of the same queues. A task
 * that has no permit is blocked, together with the other due tasks of a full queue.
 */
export const limitedClaim = {
  /** More columns of the candidates. */
  columns: ', t.queue_id',
  /** A condition on the candidates. */
  condition: '',
  /** The CTEs that make `ready` out of `candidates`, and block the others. */
  ready: `
    locks AS MATERIALIZED (
      SELECT * FROM lock_queues(ARRAY (SELECT DISTINCT queue_id FROM candidates WHERE queue_id IS NOT NULL))
    ),
    -- A queue that was deleted has no lock, and no limit.
    eligible AS (
      SELECT c.*, l.permits, coalesce(l.is_rated, false) AS is_rated,
             l.queue_id IS NULL OR (
               l.permits IS DISTINCT FROM 0 AND (NOT l.is_ordered OR c.id = l.head)
               AND (l.blocked_id IS NULL OR (c.execute_at, c.id) < (l.blocked_at, l.blocked_id))
             ) AS is_eligible
      FROM candidates c LEFT JOIN locks l ON l.queue_id = c.queue_id
    ),
    placed AS MATERIALIZED (
      SELECT e.*, is_eligible AND (permits IS NULL OR
               row_number() OVER (PARTITION BY queue_id, is_eligible ORDER BY execute_at, id) <= permits) AS may_start
      FROM eligible e
    ),
    ready AS (SELECT * FROM placed WHERE may_start),
    blocked AS (
      UPDATE tasks t SET waits_for = 1 FROM placed p
      WHERE t.ctid = p.place AND NOT p.may_start
      RETURNING t.id, t.queue_id
    ),
    full_queues AS (
      SELECT l.queue_id, l.head FROM locks l
      WHERE EXISTS (SELECT FROM placed p WHERE p.queue_id = l.queue_id AND NOT p.may_start)
        AND (l.is_ordered OR l.permits <= (SELECT count(*) FROM placed p WHERE p.queue_id = l.queue_id AND p.may_start))
    ),
    also_blocked AS (
      UPDATE tasks t SET waits_for = 1
      FROM full_queues f CROSS JOIN LATERAL (
        SELECT o.id FROM tasks o
        WHERE o.queue_id = f.queue_id AND o.finished_at IS NULL AND queue_phase(o.state, o.waits_for) = 0
          AND o.execute_at <= clock_timestamp() AND o.due_at <= clock_timestamp() AND o.id IS DISTINCT FROM f.head
          AND o.id <> ALL (ARRAY (SELECT p.id FROM placed p))
        ORDER BY o.execute_at, o.id LIMIT ${blockedTogether} FOR UPDATE SKIP LOCKED
      ) other
      WHERE t.id = other.id
    ),`,
  /** What the clock of the claim is read after. The next claim of a queue waits for the lock, so its clock is later. */
  after: 'FROM (SELECT count(*) FROM locks) locked',
  /** The CTE that counts the attempts that `claimed` starts. */
  counted: `,
    counted AS (
      INSERT INTO queue_starts (queue_id, at, starts)
      SELECT queue_id, claimed_at, count(*) FROM claimed WHERE is_rated AND state = 'processing' GROUP BY 1, 2
    )`,
  /** The id of the queue to advance after the attempt, of a row of `claimed`. */
  advances: `CASE WHEN permits IS NOT NULL OR is_rated THEN queue_id END`,
  /** Rows for the blocked tasks: their ids, and their queues. */
  blocked: 'SELECT id, queue_id FROM blocked',
}

/**
 * The CTE that gives the starts of the claims in `undone` back to their queues, as negative starts of the same instant. So it
 * waits for no other claim, and both are forgotten together. A queue without a rate limit has counted no start.
 */
export const returnedStarts = `
  returned AS (
    INSERT INTO queue_starts (queue_id, at, starts)
    SELECT queue_id, uuid_v7_time(run_id), -count(*) FROM undone u
    WHERE EXISTS (
      SELECT FROM queue_starts s WHERE s.queue_id = u.queue_id AND s.at = uuid_v7_time(u.run_id) OFFSET 0
    )
    GROUP BY 1, 2
  )`
