import { type QuotaResource, type QuotaThreshold, quotaThresholds } from '@belfry/domain/quota'
import { defaultTiers, type Tiers } from '@belfry/domain/tiers'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { tierRows } from './count-executions.ts'
import { usedExecutions } from './execution-blocks.ts'

/** An organization has used `percent` of a quota this month. */
export type QuotaCrossing = {
  organizationId: string
  resource: QuotaResource
  percent: QuotaThreshold
  crossedAt: Date
}

/**
 * Records the organizations that have crossed a threshold of a quota, each threshold once a month.
 * @returns How many crossings were new.
 */
export async function recordQuotaCrossings(pool: Pool, tiers: Tiers): Promise<number> {
  const { rowCount } = await pool.query(crossingsStatement, [quotaThresholds, ...tierRows(tiers, 2).params])
  return rowCount ?? 0
}

// Begins with the organizations, and looks up what each has used. OFFSET 0 keeps the planner from joining in another way: with
// outdated statistics it would read all of `usage` and `storage` for each organization.
export const crossingsStatement = `
  INSERT INTO quota_crossings (organization_id, month, resource, percent)
  SELECT o.id, utc_month(now()), used.resource, percent
  FROM organizations o
  JOIN ${tierRows(defaultTiers, 2).text} AS l (tier, executions, storage_bytes) ON l.tier = o.tier
  LEFT JOIN LATERAL (
    SELECT * FROM usage WHERE month = utc_month(now()) AND organization_id = o.id OFFSET 0
  ) u ON true
  LEFT JOIN LATERAL (SELECT bytes FROM storage WHERE organization_id = o.id OFFSET 0) s ON true
  CROSS JOIN LATERAL (VALUES
    ('executions'::quota_resource, ${usedExecutions}::numeric, l.executions),
    ('storage', s.bytes::numeric, l.storage_bytes)
  ) AS used (resource, amount, quota)
  CROSS JOIN unnest($1::smallint[]) AS percent
  WHERE used.amount > 0 AND used.amount * 100.0 >= percent * used.quota
  ORDER BY o.id, used.resource, percent
  ON CONFLICT DO NOTHING`

/**
 * Calls `announce` with unannounced crossings, and marks them in the same transaction. So the mails that `announce` writes
 * are committed together with the mark. Concurrent callers get different crossings. An 80 % crossing is not announced when
 * the same month has a 100 % one.
 * @returns How many crossings were marked, at most `limit`.
 */
export async function announceQuotaCrossings(
  pool: Pool,
  limit: number,
  announce: (tx: Transaction, crossings: QuotaCrossing[]) => Promise<void>,
): Promise<number> {
  return inTransaction(pool, async tx => {
    const text = `
      UPDATE quota_crossings c SET announced_at = clock_timestamp()
      FROM (
        SELECT organization_id, month, resource, percent FROM quota_crossings WHERE announced_at IS NULL
        ORDER BY crossed_at LIMIT $1 FOR UPDATE SKIP LOCKED
      ) next
      WHERE c.organization_id = next.organization_id AND c.month = next.month
        AND c.resource = next.resource AND c.percent = next.percent
      RETURNING c.organization_id AS "organizationId", c.resource, c.percent, c.crossed_at AS "crossedAt",
        EXISTS (
          SELECT FROM quota_crossings h WHERE h.organization_id = c.organization_id AND h.month = c.month
            AND h.resource = c.resource AND h.percent > c.percent
        ) AS "isOvertaken"`
    const { rows } = await tx.query<QuotaCrossing & { isOvertaken: boolean }>(text, [limit])
    const crossings = rows.filter(row => !row.isOvertaken).map(({ isOvertaken: _, ...crossing }) => crossing)
    if (crossings.length > 0) await announce(tx, crossings)
    return rows.length
  })
}
