import type { AlertChannel, AlertEvent } from '@belfry/domain'
import type { Transaction } from '../in-transaction.ts'

/** Who hears of an organization's quota: its owners, and the integrations of its workspaces that asked for it. */
export type QuotaAudience = {
  name: string
  slug: string
  owners: string[]
  integrations: Array<{ id: string; workspaceId: string; workspaceName: string; channel: AlertChannel }>
}

/** Finds them; null when the organization has been deleted. */
export async function findQuotaAudience(
  tx: Transaction,
  organizationId: string,
  event: AlertEvent,
): Promise<QuotaAudience | null> {
  const { rows } = await tx.query<{ name: string; slug: string; owners: string[] }>(
    `SELECT name, slug, ARRAY (
       SELECT u.email FROM memberships m JOIN users u ON u.id = m.user_id
       WHERE m.organization_id = o.id AND m.role = 'owner' ORDER BY u.email
     ) AS owners
     FROM organizations o WHERE id = $1 AND deleted_at IS NULL`,
    [organizationId],
  )
  const [organization] = rows
  if (!organization) return null
  const integrations = await tx.query<QuotaAudience['integrations'][number]>(
    `SELECT i.id, i.workspace_id AS "workspaceId", w.name AS "workspaceName", i.channel
     FROM workspaces w JOIN integrations i ON i.workspace_id = w.id
     WHERE w.organization_id = $1 AND w.deleted_at IS NULL AND $2 = ANY (i.events)`,
    [organizationId, event],
  )
  return { ...organization, integrations: integrations.rows }
}
