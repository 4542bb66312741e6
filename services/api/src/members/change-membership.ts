import type { PrismaTransaction } from '@belfry/db/prisma'
import { type Actor, AppError, mayGrant, type Role } from '@belfry/domain'
import { type OrganizationCaller, requireRight } from '../auth/authorize.ts'
import type { UserCaller } from '../auth/find-user.ts'
import type { Context } from '../context.ts'
import { notFound } from '../http/refusals.ts'
import { lockOrganization } from '../organizations/lock-organization.ts'

export type Membership = { organizationId: string; userId: string; role: Role }

/**
 * Changes the membership of one user, under a lock of all memberships of the organization. The right and the rank of the
 * caller are checked under the lock as well.
 */
export async function changeMembership<T>(
  ctx: Context,
  caller: OrganizationCaller & { user: UserCaller },
  userId: string,
  change: (tx: PrismaTransaction, present: Membership, own: Role) => Promise<T>,
): Promise<T> {
  const { organizationId } = caller
  return ctx.prisma.$transaction(async tx => {
    await lockOrganization(tx, organizationId)
    const users = { in: [caller.user.userId, userId] }
    const rows = await tx.membership.findMany({ where: { organizationId, userId: users } })
    const own = rows.find(row => row.userId === caller.user.userId)
    const present = rows.find(row => row.userId === userId)
    if (!own || !present) throw notFound()
    if (userId !== caller.user.userId) requireRight(actorNow(caller.actor, own.role), 'member.manage')
    requireRank(own.role, present.role)
    return change(tx, present, own.role)
  })
}

function actorNow(actor: Actor, role: Role): Actor {
  return actor.kind === 'user' ? { ...actor, role } : actor
}

/** Throws `forbidden` unless a role may grant and remove another: only owners may add or remove owners. */
export function requireRank(own: Role, other: Role): void {
  if (!mayGrant(own, other)) throw new AppError('forbidden', `This requires the role ${other}.`)
}

/** Throws `last_owner` for the last owner. The caller holds the lock of the organization, so the count stays right. */
export async function requireAnotherOwner(tx: PrismaTransaction, { organizationId, userId, role }: Membership) {
  if (role !== 'owner') return
  const others = await tx.membership.count({ where: { organizationId, role: 'owner', userId: { not: userId } } })
  if (others === 0)
    throw new AppError('last_owner', 'Make another member an owner first: an organization needs at least one.')
}
