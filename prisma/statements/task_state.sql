-- Reads why a task could not be moved.
-- Sent by endTask.

SELECT state, state = 'processing' AND (t.prefetched AND t.waits_for = 0 AND NOT EXISTS (
SELECT FROM sends s WHERE s.dispatcher_id = t.dispatcher_id AND t.run_id = ANY (s.run_ids)
)) AS "isUnsent" FROM tasks t WHERE id = $1 AND workspace_id = $2
