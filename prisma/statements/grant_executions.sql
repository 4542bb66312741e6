-- Grants a dispatcher new blocks of executions.
-- Sent by claimWithTopUp.

WITH topped_up AS (
  SELECT * FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS t (organization_id, granted, block, execution_limit)
),
counted AS (
  UPDATE usage u SET executions = t.granted FROM topped_up t
  WHERE u.month = utc_month(now()) AND u.organization_id = t.organization_id
)
INSERT INTO execution_blocks AS b (month, organization_id, dispatcher_id, unspent, execution_limit)
SELECT utc_month(now()), organization_id, $1, block, execution_limit FROM topped_up ORDER BY organization_id
ON CONFLICT (month, organization_id, dispatcher_id)
DO UPDATE SET unspent = b.unspent + excluded.unspent, execution_limit = excluded.execution_limit
