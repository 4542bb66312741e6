import type { Transaction } from '../postgres/in-transaction.ts'

/** An organization as mails to its owners show it. `owners` are e-mail addresses. */
export type OwnedOrganization = { name: string; slug: string; owners: string[] }

/** Finds an organization's name and the e-mail addresses of its owners; null when it has been deleted. */
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
