-- Reads the tasks that a dispatcher has prefetched, whose first attempt may start.
-- Sent by endTasks.

SELECT t.id FROM tasks t
WHERE t.id = ANY ($2::uuid[]) AND t.workspace_id = $1 AND (t.state = 'pending'
  OR t.state = 'processing' AND t.attempts = 1 AND (t.prefetched AND t.waits_for = 0 AND NOT EXISTS (
  SELECT FROM sends s WHERE s.dispatcher_id = t.dispatcher_id AND t.run_id = ANY (s.run_ids)
)))
