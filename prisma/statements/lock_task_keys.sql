-- Locks keys of tasks until the end of the transaction.
-- Sent by storeUnderKeys.

SELECT pg_advisory_xact_lock(hashtext($1), slot)
FROM (SELECT DISTINCT hashtext(key) & 63 AS slot FROM unnest($2::text[]) AS key ORDER BY slot) slots
