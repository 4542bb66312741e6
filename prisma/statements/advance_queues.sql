-- Makes the next blocked tasks of queues due, as many as may start.
-- Sent by advanceQueues.

SELECT advance_queues($1::uuid[], $2::int)::int AS moved
