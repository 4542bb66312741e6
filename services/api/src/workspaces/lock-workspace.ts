import type { Workspace } from '@belfry/db/generated/client'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { notFound } from '../http/refusals.ts'

type LockedWorkspace = Pick<Workspace, 'name' | 'keepsResponsesWithSecrets' | 'asymmetricSignatures' | 'switchOffDays'>

/**
 * Locks a workspace against changes and deletion until the transaction ends. Throws `not_found` when it was just deleted.
 */
export async function lockWorkspace(
  tx: PrismaTransaction,
  { workspaceId, organizationId }: { workspaceId: string; organizationId: string },
): Promise<LockedWorkspace> {
  const rows = await tx.$queryRaw<LockedWorkspace[]>`
    SELECT name, keeps_responses_with_secrets AS "keepsResponsesWithSecrets",
           asymmetric_signatures AS "asymmetricSignatures", switch_off_days AS "switchOffDays"
    FROM workspaces
    WHERE id = ${workspaceId}::uuid AND organization_id = ${organizationId}::uuid AND deleted_at IS NULL FOR UPDATE`
  if (!rows[0]) throw notFound()
  return rows[0]
}
