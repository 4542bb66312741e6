import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { decide, lowerWorkspaceRole, mayGrant, type Policy, type Role } from '@belfry/domain/permissions'
import { audit } from '../audit/audit.ts'
import type { Context } from '../context.ts'
import { lockOrganization } from '../organizations/lock-organization.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { requireOpen, revoked } from './find-invitation.ts'
import type { InvitationRow } from './present-invitation.ts'
import { invitableWorkspaces, maxLaterRole } from './require-grantable.ts'

/**
 * Adds a user to an organization and to the workspaces of an invitation, once. The inviter must still have the right to
 * invite.
 * @returns The workspaces that the user has joined.
 */
export async function joinOrganization(
  ctx: Pick<Context, 'config' | 'usageCache'>,
  tx: PrismaTransaction,
  invitation: InvitationRow & { invitedBy: string },
  by: { userId: string; address: string },
  now: number,
): Promise<string[]> {
  const { id, organizationId, role, workspaceRole } = invitation
  const { userId } = by
  await lockOrganization(tx, organizationId)
  await use(tx, invitation, now)
  const inviter = await tx.membership.findUnique({
    where: { organizationId_userId: { organizationId, userId: invitation.invitedBy } },
    include: { organization: true },
  })
  if (!inviter || !mayInvite(inviter) || !mayGrant(inviter.role, role)) throw revoked()
  const key = { organizationId_userId: { organizationId, userId } }
  if (await tx.membership.findUnique({ where: key })) throw new AppError('already_member', 'You are already a member.')
  const quota = await readQuota(ctx, organizationId)
  refuseOverCount(quota, 'members', await tx.membership.count({ where: { organizationId } }))
  // The inviter's roles may have changed since the invitation.
  const laterRole = lowerWorkspaceRole(workspaceRole, maxLaterRole(inviter))
  await tx.membership.create({ data: { organizationId, userId, role, workspaceRole: laterRole } })
  const workspaces = await invitableWorkspaces(tx, invitation.workspaceIds, inviter)
  await tx.workspaceMember.createMany({
    data: workspaces.map(({ id: workspaceId, maxRole }) => ({
      workspaceId,
      userId,
      role: lowerWorkspaceRole(workspaceRole, maxRole),
    })),
  })
  const details = { role, invitation: toId('inv', id), workspace_ids: workspaces.map(({ id }) => toId('ws', id)) }
  const who = { organizationId, user: { userId }, apiKeyId: null, address: by.address }
  await audit(tx, who, { action: 'member.joined', objectId: toId('user', userId), details })
  return workspaces.map(({ id }) => id)
}

// The condition makes a link work once, also for concurrent requests.
async function use(tx: PrismaTransaction, invitation: InvitationRow, now: number): Promise<void> {
  const { id, organizationId } = invitation
  const { count } = await tx.invitation.updateMany({
    where: { id, organizationId, acceptedAt: null, revokedAt: null, expiresAt: { gt: new Date(now) } },
    data: { acceptedAt: new Date(now) },
  })
  if (count === 1) return
  requireOpen(await tx.invitation.findUniqueOrThrow({ where: { id, organizationId } }), now)
  throw revoked()
}

function mayInvite({ role, organization }: { role: Role; organization: Policy }): boolean {
  return decide({ kind: 'user', role, policy: organization, workspaceRole: null }, 'invitation.create').allowed
}
