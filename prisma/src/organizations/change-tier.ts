import { type TierName, toId } from '@belfry/domain'
import { insertAuditEntry, type NewAuditEntry } from '../audit-log.ts'
import type { Transaction } from '../postgres/in-transaction.ts'

/** Who changes a tier; nobody for what follows from a payment. */
export type TierChanger = Pick<NewAuditEntry, 'userId' | 'apiKeyId' | 'address'> & {
  details?: NewAuditEntry['details']
}

/**
 * Puts an organization on a tier, from the next claim on. Nothing that a lower tier has no room for is taken away.
 * @returns The tier before; null when the organization has that tier already or has been deleted.
 */
export async function changeTier(
  tx: Transaction,
  organizationId: string,
  tier: TierName,
  by: TierChanger,
): Promise<TierName | null> {
  const { rows } = await tx.query<{ tier: TierName }>(
    'SELECT tier FROM organizations WHERE id = $1 AND deleted_at IS NULL FOR UPDATE',
    [organizationId],
  )
  const before = rows[0]?.tier
  if (before === undefined || before === tier) return null
  await tx.query('UPDATE organizations SET tier = $2, updated_at = now() WHERE id = $1', [organizationId, tier])
  await insertAuditEntry(tx, {
    organizationId,
    workspaceId: null,
    action: 'organization.tier_changed',
    userId: by.userId,
    apiKeyId: by.apiKeyId,
    address: by.address,
    objectId: toId('org', organizationId),
    details: { from: before, to: tier, ...by.details },
  })
  return before
}
