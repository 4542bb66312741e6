-- Deletes a workspace of which nothing else is left.
-- Sent by deleteEmptyWorkspace.

DELETE FROM workspaces WHERE id = $1 AND wound_down_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM usage_changes WHERE workspace_id = $1)
  AND NOT EXISTS (SELECT FROM runs WHERE workspace_id = $1)
  AND NOT EXISTS (SELECT FROM tasks WHERE workspace_id = $1)
  AND NOT EXISTS (SELECT FROM idempotency_keys WHERE workspace_id = $1)
  AND NOT EXISTS (SELECT FROM run_changes WHERE workspace_id = $1)
  AND NOT EXISTS (SELECT FROM run_statistics WHERE workspace_id = $1)
  AND NOT EXISTS (SELECT FROM host_statistics WHERE workspace_id = $1)
  AND NOT EXISTS (SELECT FROM log_parts WHERE workspace_id = $1)
