-- Locks an Idempotency-Key until the end of the transaction, unless another request has it.
-- Sent by answerOnce.

SELECT pg_try_advisory_xact_lock($1::bigint) AS taken
