-- Takes back what a dispatcher has not spent of its executions.
-- Sent by claimWithTopUp.

DELETE FROM execution_blocks
WHERE month = utc_month(now()) AND organization_id = ANY ($1::uuid[])
  AND dispatcher_id = $2
RETURNING organization_id AS "organizationId", unspent::float8 AS unspent
