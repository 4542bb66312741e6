-- Locks the executions of organizations in this month.
-- Sent by claimWithTopUp.

INSERT INTO usage AS u (month, organization_id, executions, wanted, granted, execution_limit)
SELECT utc_month(now()), o.id, 0, 0, 0, l.executions
FROM organizations o JOIN unnest($2::text[], $3::bigint[], $4::bigint[]) AS l (tier, executions, storage_bytes) ON l.tier = o.tier
WHERE o.id = ANY ($1::uuid[]) ORDER BY o.id
ON CONFLICT (month, organization_id) DO UPDATE SET execution_limit = excluded.execution_limit
RETURNING organization_id AS "organizationId", execution_limit::float8 AS "limit", executions::float8 AS granted
