import type { PrismaTransaction } from '@belfry/db/prisma'
import { type Actor, AppError, mayGrant, type Role } from '@belfry/domain'

/** Throws `forbidden` for an invitation to a role above the caller's own. */
export function requireGrantable(actor: Actor, role: Role): void {
  if (actor.kind === 'user' && mayGrant(actor.role, role)) return
  throw new AppError('forbidden', `Inviting to the role ${role} requires that role or a higher one.`)
}

/** Returns the workspaces to which a user may invite: those of the organization, for a member only the member's own. */
export async function invitableWorkspaces(
  tx: PrismaTransaction,
  ids: readonly string[],
  by: { organizationId: string; userId: string; role: Role },
): Promise<Array<{ id: string; name: string }>> {
  const { organizationId, userId, role } = by
  const own = role === 'member' ? { members: { some: { userId } } } : {}
  const where = { id: { in: [...ids] }, organizationId, deletedAt: null, ...own }
  return tx.workspace.findMany({ where, select: { id: true, name: true }, orderBy: { id: 'asc' } })
}
