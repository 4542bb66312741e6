import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { notFound } from '../http/refusals.ts'

/**
 * Locks the members, workspaces and settings of an organization against changes until the transaction ends. Throws
 * `not_found` when the organization was just deleted.
 */
export async function lockOrganization(tx: PrismaTransaction, organizationId: string): Promise<void> {
  const rows = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM organizations WHERE id = ${organizationId}::uuid AND deleted_at IS NULL FOR UPDATE`
  if (rows.length === 0) throw notFound()
}
