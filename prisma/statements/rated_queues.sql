-- Finds the queues whose rate limit allows another start.
-- Sent by advanceRatedQueues.

SELECT id FROM queues WHERE advance_at <= clock_timestamp() ORDER BY advance_at LIMIT $1
