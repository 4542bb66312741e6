import type { PrismaTransaction } from '@belfry/db/prisma'
import { notFound } from '../http/refusals.ts'

/**
 * Keeps everybody else from changing the members, workspaces and settings of an organization until the transaction ends.
 * Throws `not_found` when it has just been deleted.
 */
export async function lockOrganization(tx: PrismaTransaction, organizationId: string): Promise<void> {
  const rows = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM organizations WHERE id = ${organizationId}::uuid AND deleted_at IS NULL FOR UPDATE`
  if (rows.length === 0) throw notFound()
}
