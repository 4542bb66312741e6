-- Stores the response of an Idempotency-Key.
-- Sent by answerOnce.

INSERT INTO idempotency_keys (workspace_id, key, request_hash, status, location, answer)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (workspace_id, key) DO UPDATE
SET request_hash = excluded.request_hash, status = excluded.status, location = excluded.location,
    answer = excluded.answer, created_at = excluded.created_at
WHERE idempotency_keys.created_at <= now() - interval '24 hours'
