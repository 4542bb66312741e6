import { type Tiers, tierNames } from '@belfry/domain/tiers'
import type { Pool } from '../postgres/pool.ts'

/** A workspace with tasks, its organization, and for how many days it keeps its log. */
export type KeptLog = { workspaceId: string; organizationId: string | null; days: number }

/** An organization with audit entries, and for how many days it keeps them. */
export type KeptAuditLog = { organizationId: string; days: number }

/**
 * Finds workspaces with tasks, in the order of their ids, and for how many days each keeps its log. A purged workspace keeps
 * it as long as the tier with the shortest log.
 * @param after - The last workspace of the previous page; null for the first page.
 */
export async function workspacesWithTasks(pool: Pool, tiers: Tiers, after: string | null, limit: number) {
  const days = tierNames.map(name => tiers[name].logDays)
  const values = [after, limit, tierNames, days, Math.min(...days)]
  return (await pool.query<KeptLog>({ name: 'workspaces_with_tasks', text: workspacesStatement, values })).rows
}

/**
 * Finds organizations with audit entries, in the order of their ids. A deleted organization keeps its entries as long as
 * the tier with the longest audit log.
 * @param after - The last organization of the previous page; null for the first page.
 */
export async function organizationsWithAuditLog(pool: Pool, tiers: Tiers, after: string | null, limit: number) {
  const days = tierNames.map(name => tiers[name].auditDays)
  const values = [after, limit, tierNames, days, Math.max(...days)]
  const query = { name: 'organizations_with_audit_log', text: organizationsStatement, values }
  return (await pool.query<KeptAuditLog>(query)).rows
}

// A recursive query, because it jumps from one owner to the next in the index. DISTINCT would read all entries.
const keptBy = (owner: string, table: string, columns: string, organization: string) => `
  WITH RECURSIVE found (id, n) AS (
    (SELECT ${owner}, 1 FROM ${table} WHERE $1::uuid IS NULL OR ${owner} > $1 ORDER BY ${owner} LIMIT 1)
    UNION ALL
    SELECT (SELECT ${owner} FROM ${table} WHERE ${owner} > found.id ORDER BY ${owner} LIMIT 1), n + 1
    FROM found WHERE found.id IS NOT NULL AND n < $2
  )
  SELECT ${columns}, coalesce(kept.days, $5::int) AS days
  FROM found ${organization}
  LEFT JOIN unnest($3::text[], $4::int[]) AS kept (tier, days) ON kept.tier = o.tier
  WHERE found.id IS NOT NULL
  ORDER BY found.id`

const workspacesStatement = keptBy(
  'workspace_id',
  'tasks',
  'found.id AS "workspaceId", w.organization_id AS "organizationId"',
  'LEFT JOIN workspaces w ON w.id = found.id LEFT JOIN organizations o ON o.id = w.organization_id',
)
const organizationsStatement = keptBy(
  'organization_id',
  'audit_log',
  'found.id AS "organizationId"',
  'LEFT JOIN organizations o ON o.id = found.id',
)
