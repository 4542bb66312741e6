-- Reads the stored response of an Idempotency-Key.
-- Sent by answerOnce.

SELECT request_hash = $3 AS "isSame", status, location, answer FROM idempotency_keys
WHERE workspace_id = $1 AND key = $2 AND created_at > now() - interval '24 hours'
