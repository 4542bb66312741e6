import type { PrismaTransaction } from '@belfry/db/prisma'
import { type Actor, AppError, mayGrant, type Role } from '@belfry/domain'

/** Refuses to invite to a role above one's own. */
export function requireGrantable(actor: Actor, role: Role): void {
  if (actor.kind === 'user' && mayGrant(actor.role, role)) return
  throw new AppError('forbidden', `To invite to the role ${role} takes that role, or a higher one.`)
}

/** The workspaces, of these, that somebody may invite to: of the organization, and for a member their own ones. */
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
