-- Locks the claims of a dispatcher that has ended.
-- Sent by endDispatcher.

SELECT t.id AS "taskId", t.workspace_id AS "workspaceId", t.run_id AS "runId",
       $2::boolean AND (t.prefetched AND t.waits_for = 0 AND NOT EXISTS (
SELECT FROM sends s WHERE s.dispatcher_id = t.dispatcher_id AND t.run_id = ANY (s.run_ids)
)) AS "isUnsent"
FROM tasks t WHERE state = 'processing' AND waits_for = 0 AND t.dispatcher_id = $1
ORDER BY t.id FOR UPDATE
