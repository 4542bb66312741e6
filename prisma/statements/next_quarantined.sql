-- Picks one of the oldest due tasks in quarantine, to be claimed alone.
-- Sent by claimQuarantined.

SELECT id FROM (
  SELECT id FROM tasks WHERE quarantined AND waits_for = 0 AND state = 'retrying' AND due_at <= clock_timestamp()
    AND NOT EXISTS (SELECT FROM suspended_workspaces s WHERE s.id = workspace_id)
  ORDER BY due_at LIMIT 8
) due ORDER BY random() LIMIT 1
