import type { Pool } from '../postgres/pool.ts'
import { isInFlight } from '../tasks/task-row.ts'
import { leaseFloor } from '../tasks/waiting-floor.ts'

/** The share, 0 to 1, that the organization of a rank has of one thing. Rank 1 has the largest. */
export type TenantShare = { of: 'slots' | 'executions' | 'failures' | 'storage'; rank: number; share: number }

const maxRank = 3

/**
 * Reads the largest shares that organizations have of the slots in use, of today's executions and failures, and of
 * storage. Organizations appear by rank only, so the metrics stay few for any number of organizations.
 */
export async function readTenantShares(pool: Pool): Promise<TenantShare[]> {
  const values = [maxRank]
  return (await pool.query<TenantShare>({ name: 'tenant_shares', text: sharesStatement, values })).rows
}

const today = `day = (now() AT TIME ZONE 'UTC')::date`

const sharesStatement = `
  WITH used AS (
    SELECT 'slots' AS of, w.organization_id, count(*)::float8 AS amount
    FROM tasks t JOIN workspaces w ON w.id = t.workspace_id
    WHERE ${isInFlight} AND t.lease_until >= ${leaseFloor} GROUP BY w.organization_id
    UNION ALL SELECT 'executions', organization_id, executions FROM usage_days WHERE ${today}
    UNION ALL SELECT 'failures', organization_id, failed FROM usage_days WHERE ${today}
    UNION ALL SELECT 'storage', organization_id, bytes FROM storage
  ), ranked AS (
    SELECT of, row_number() OVER (PARTITION BY of ORDER BY amount DESC)::int AS rank,
           amount / sum(amount) OVER (PARTITION BY of) AS share
    FROM used WHERE amount > 0
  )
  SELECT of, rank, share FROM ranked WHERE rank <= $1 ORDER BY of, rank`
