import type { AlertChannel, AlertEvent } from '@belfry/domain'
import { findOwners, type OwnedOrganization } from '../organizations/find-owners.ts'
import type { Transaction } from '../postgres/in-transaction.ts'

/** The recipients of an organization's quota alerts: its owners, and the integrations that subscribe to the event. */
export type QuotaAudience = OwnedOrganization & {
  integrations: Array<{ id: string; workspaceId: string; workspaceName: string; channel: AlertChannel }>
}

/** Finds the recipients of a quota alert; null when the organization has been deleted. */
export async function findQuotaAudience(
  tx: Transaction,
  organizationId: string,
  event: AlertEvent,
): Promise<QuotaAudience | null> {
  const organization = await findOwners(tx, organizationId)
  if (!organization) return null
  const integrations = await tx.query<QuotaAudience['integrations'][number]>(
    `SELECT i.id, i.workspace_id AS "workspaceId", w.name AS "workspaceName", i.channel
     FROM workspaces w JOIN integrations i ON i.workspace_id = w.id
     WHERE w.organization_id = $1 AND w.deleted_at IS NULL AND $2 = ANY (i.events)`,
    [organizationId, event],
  )
  return { ...organization, integrations: integrations.rows }
}
