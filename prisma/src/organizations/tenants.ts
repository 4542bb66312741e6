import type { TierName } from '@belfry/domain/tiers'
import type { Pool } from '../postgres/pool.ts'

/** The owner of a workspace. */
export type TenantRow = {
  workspaceId: string
  organizationId: string
  /** The user who has owned the organization for the longest time; its own id when it has no owner. */
  account: string
  tier: TierName
  isSuspended: boolean
  /** Whether the organization has the tier of strangers, and no task in the log that succeeded. */
  isNew: boolean
}

/** Reads the tenants of workspaces. Skips workspaces that do not exist. */
export async function readTenants(pool: Pool, workspaceIds: readonly string[]): Promise<TenantRow[]> {
  const text = `
    SELECT w.id AS "workspaceId", w.organization_id AS "organizationId", o.tier,
           coalesce((
             SELECT m.user_id FROM memberships m WHERE m.organization_id = w.organization_id AND m.role = 'owner'
             ORDER BY m.joined_at, m.user_id LIMIT 1
           ), w.organization_id) AS account,
           EXISTS (SELECT FROM suspended_workspaces s WHERE s.id = w.id) AS "isSuspended",
           o.tier = 'free' AND NOT EXISTS (
             SELECT FROM workspaces of JOIN tasks t ON t.workspace_id = of.id
             WHERE of.organization_id = w.organization_id AND t.state = 'success'
           ) AS "isNew"
    FROM unnest($1::uuid[]) AS i (id) JOIN workspaces w ON w.id = i.id JOIN organizations o ON o.id = w.organization_id`
  const { rows } = await pool.query<TenantRow>({ name: 'read_tenants', text, values: [workspaceIds] })
  return rows
}
