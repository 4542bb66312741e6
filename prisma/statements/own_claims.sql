-- Reads the claims of a live dispatcher, which compares them with those that it holds.
-- Sent by recoverStrays.

SELECT id AS "taskId", workspace_id AS "workspaceId", run_id AS "runId" FROM tasks
WHERE state = 'processing' AND waits_for = 0 AND lease_until >= coalesce((SELECT f.lease_until FROM waiting_floor f), '-infinity') AND dispatcher_id = $1
