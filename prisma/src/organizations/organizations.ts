import { toId } from '@belfry/domain/id'
import type { TierName } from '@belfry/domain/tiers'
import { insertAuditEntry, type NewAuditEntry } from '../audit-log.ts'
import type { Transaction } from '../postgres/in-transaction.ts'

/** An organization as mails to its owners show it. `owners` are email addresses. */
export type OwnedOrganization = { name: string; slug: string; owners: string[] }

/** Finds an organization's name and the email addresses of its owners; null when it has been deleted. */
export async function findOwners(tx: Transaction, organizationId: string): Promise<OwnedOrganization | null> {
  const text = `
    SELECT name, slug, ARRAY (
      SELECT u.email FROM memberships m JOIN users u ON u.id = m.user_id
      WHERE m.organization_id = o.id AND m.role = 'owner' ORDER BY u.email
    ) AS owners
    FROM organizations o WHERE id = $1 AND deleted_at IS NULL`
  const { rows } = await tx.query<OwnedOrganization>(text, [organizationId])
  return rows[0] ?? null
}

/** The actor for the audit log. A change that follows from a payment has no user and no API key. */
export type TierChanger = Pick<NewAuditEntry, 'userId' | 'apiKeyId' | 'address'> &
  Partial<Pick<NewAuditEntry, 'details'>>

/**
 * Moves an organization to a tier. The next claim applies its limits. A lower tier does not delete data at once.
 * @returns The previous tier; null when the organization has that tier already or has been deleted.
 */
export async function changeTier(tx: Transaction, organizationId: string, tier: TierName, by: TierChanger) {
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
    ...by,
    objectId: toId('org', organizationId),
    details: { from: before, to: tier, ...by.details },
  })
  return before
}
