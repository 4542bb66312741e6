-- Deletes a batch of the runs of a deleted workspace.
-- Sent by purgeWorkspace.

WITH deleted AS (
  DELETE FROM runs WHERE workspace_id = $1
    AND id IN (SELECT id FROM runs WHERE workspace_id = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING coalesce(octet_length(response_body), 0) + coalesce(extra_bytes, 0) AS bytes
),
recorded AS (
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT $1, -sum(bytes) FROM deleted HAVING sum(bytes) > 0
)
SELECT FROM deleted
