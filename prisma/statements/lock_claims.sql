-- Locks the claims of a dispatcher that has ended.
-- Sent by endDispatcher.

SELECT t.id AS "taskId", t.workspace_id AS "workspaceId", t.run_id AS "runId",
       $2::boolean AND (t.prefetched AND NOT EXISTS (
SELECT FROM sends s WHERE s.dispatcher_id = t.dispatcher_id AND t.run_id = ANY (s.run_ids)
)) AS "isUnsent"
FROM tasks t WHERE t.state = 'processing' AND t.dispatcher_id = $1 AND NOT t.lease_until > now() + interval '1 year'
ORDER BY t.id FOR UPDATE
