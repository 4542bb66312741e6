import { type Tiers, tierNames } from '@belfry/domain/tiers'
import type { Pool } from '../postgres/pool.ts'

/** An organization with audit entries, and for how many days it keeps them. */
export type KeptAuditLog = { organizationId: string; days: number }

/**
 * Finds organizations with audit entries, in the order of their ids. A deleted organization keeps its entries as long as
 * the tier with the longest audit log.
 * @param after - The last organization of the previous page; null for the first page.
 */
export async function organizationsWithAuditLog(
  pool: Pool,
  tiers: Tiers,
  after: string | null,
  limit: number,
): Promise<KeptAuditLog[]> {
  const days = tierNames.map(name => tiers[name].auditDays)
  const values = [after, limit, tierNames, days, Math.max(...days)]
  const { rows } = await pool.query<KeptAuditLog>({ name: 'organizations_with_audit_log', text: statement, values })
  return rows
}

// A recursive query, because it jumps from one organization to the next in the index.
const statement = `
  WITH RECURSIVE found (id, n) AS (
    (SELECT organization_id, 1 FROM audit_log WHERE $1::uuid IS NULL OR organization_id > $1
     ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT organization_id FROM audit_log WHERE organization_id > found.id ORDER BY organization_id LIMIT 1), n + 1
    FROM found WHERE found.id IS NOT NULL AND n < $2
  )
  SELECT found.id AS "organizationId", coalesce(kept.days, $5::int) AS days
  FROM found
  LEFT JOIN organizations o ON o.id = found.id
  LEFT JOIN unnest($3::text[], $4::int[]) AS kept (tier, days) ON kept.tier = o.tier
  WHERE found.id IS NOT NULL
  ORDER BY found.id`

/**
 * Deletes up to `limit` audit entries of an organization that are older than `days`. Entries of the last 30 days stay in any
 * case. Returns how many it deleted.
 */
export async function expireAuditLog(pool: Pool, { organizationId, days }: KeptAuditLog, limit: number) {
  const text = 'SELECT expire_audit_log($1, $2, $3) AS deleted'
  const values = [organizationId, days, limit]
  const { rows } = await pool.query<{ deleted: number }>({ name: 'expire_audit_log', text, values })
  return rows[0]?.deleted ?? 0
}
