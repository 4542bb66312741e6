-- Locks a deleted workspace, unless another scheduler has it.
-- Sent by windDownWorkspace.

SELECT deleted_at < clock_timestamp() - interval '1 minute' AS "isSettled" FROM workspaces
       WHERE id = $1 AND deleted_at IS NOT NULL AND wound_down_at IS NULL FOR UPDATE SKIP LOCKED
