-- Finds queues that block tasks, page by page: the safety net for lost wake-ups.
-- Sent by openQueueSearch.

SELECT q.id, q.paused_at IS NULL AND EXISTS (
         SELECT FROM tasks t WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
         OFFSET 0
       ) AS "isBlocked"
FROM (SELECT id, paused_at FROM queues WHERE id > $1 ORDER BY id LIMIT 2000) q ORDER BY q.id
