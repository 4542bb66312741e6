import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { type Actor, lowerWorkspaceRole, mayGrant, type Role, type WorkspaceRole } from '@belfry/domain/permissions'
import type { CallerOf } from '../auth/authorize.ts'

/** Throws `forbidden` for an invitation to a role above the caller's own. */
export function requireGrantable(actor: Actor, role: Role): void {
  if (actor.kind === 'user' && mayGrant(actor.role, role)) return
  throw new AppError('forbidden', `Inviting to the role ${role} requires that role or a higher one.`)
}

export type Inviter = { organizationId: string; userId: string; role: Role }

/** Returns the caller as the sender of an invitation. */
export function inviterOf({ organizationId, user, actor }: CallerOf<'invitation.create'>): Inviter {
  return { organizationId, userId: user.userId, role: actor.kind === 'user' ? actor.role : 'member' }
}

/** A workspace to which a user may invite, with the highest role that the user may grant in it. */
export type InvitableWorkspace = { id: string; maxRole: WorkspaceRole }

/**
 * Returns the workspaces to which a user may invite: all of the organization for owners and admins, and for a member only
 * the member's own.
 */
export async function invitableWorkspaces(
  tx: PrismaTransaction,
  ids: readonly string[],
  { organizationId, userId, role }: Inviter,
): Promise<InvitableWorkspace[]> {
  const isMember = role === 'member'
  const own = isMember ? { members: { some: { userId } } } : {}
  const rows = await tx.workspace.findMany({
    where: { id: { in: [...ids] }, organizationId, deletedAt: null, ...own },
    select: { id: true, members: { where: { userId }, select: { role: true } } },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ id, members }) => ({ id, maxRole: isMember ? (members[0]?.role ?? 'viewer') : 'editor' }))
}

/** Returns the highest role that a user may grant as the role in workspaces that the invited user joins later. */
export function maxLaterRole({ role, workspaceRole }: { role: Role; workspaceRole: WorkspaceRole }): WorkspaceRole {
  return role === 'member' ? workspaceRole : 'editor'
}

/** Throws `forbidden` when an invitation grants a role in workspaces that its sender lacks there. */
export async function requireGrantableInWorkspaces(
  tx: PrismaTransaction,
  by: Inviter,
  { workspaceRole, workspaceIds }: { workspaceRole: WorkspaceRole; workspaceIds: readonly string[] },
): Promise<void> {
  const { organizationId, userId } = by
  const highest =
    workspaceIds.length > 0
      ? (await invitableWorkspaces(tx, workspaceIds, by)).map(({ maxRole }) => maxRole)
      : [
          maxLaterRole(
            await tx.membership.findUniqueOrThrow({
              where: { organizationId_userId: { organizationId, userId } },
              select: { role: true, workspaceRole: true },
            }),
          ),
        ]
  if (highest.every(max => lowerWorkspaceRole(max, workspaceRole) === workspaceRole)) return
  throw new AppError('forbidden', `Inviting as ${workspaceRole} requires that role in each of the workspaces.`)
}
