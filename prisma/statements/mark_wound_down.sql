-- Marks a deleted workspace without unfinished tasks, so it can be purged.
-- Sent by windDownWorkspace.

UPDATE workspaces SET wound_down_at = now() WHERE id = $1 AND NOT EXISTS (
       SELECT FROM tasks WHERE workspace_id = $1 AND state IN ('pending', 'processing', 'retrying')
     )
