-- Finds the pending tasks that have keys.
-- Sent by storeUnderKeys.

SELECT DISTINCT ON (key) key, id FROM tasks
WHERE workspace_id = $1 AND key = ANY ($2::text[]) AND finished_at IS NULL
  AND state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled')
ORDER BY key, id DESC
