-- Takes back what all dispatchers have not spent, when too few executions are left.
-- Sent by claimWithTopUp.

DELETE FROM execution_blocks
WHERE month = utc_month(now()) AND organization_id = ANY ($1::uuid[])
RETURNING organization_id AS "organizationId", unspent::float8 AS unspent
