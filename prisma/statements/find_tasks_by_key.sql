-- Finds the pending task that has a key.
-- Sent by storeUnderKeys.

SELECT id FROM tasks
WHERE workspace_id = $1 AND key = $2 AND finished_at IS NULL
  AND state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled')
ORDER BY id DESC LIMIT 1
