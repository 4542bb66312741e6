import type { AcceptedInvitation, AcceptInvitationBody, InvitationPreview } from '@belfry/contract/invitation'
import { operations } from '@belfry/contract/operations'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError, notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { decide, lowerWorkspaceRole, mayGrant, type Policy, type Role } from '@belfry/domain/permissions'
import type { Request } from 'express'
import { recordConfirmedEmail } from '../account/mail-links.ts'
import { hashPassword, requirePasswordLogin } from '../account/password.ts'
import { requireRegistrationByInvitation } from '../account/registration.ts'
import { startSession } from '../account/sessions.ts'
import { audit } from '../audit/audit.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { findUser } from '../auth/find-user.ts'
import { hashOneTimeToken } from '../auth/one-time-token.ts'
import { consumeRequest } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { refuseDuplicate } from '../http/errors.ts'
import { ApiResponse } from '../http/response.ts'
import { lockOrganization, requireMayOwn } from '../organizations/members.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { type InvitationRow, invitableWorkspaces, maxLaterRole, revoked, statusOf } from './invitations.ts'

export const previewInvitation = endpoint(operations.previewInvitation, (ctx, { body }) => preview(ctx, body.token))

export const getInvitation = endpoint(operations.getInvitation, (ctx, { params }) => preview(ctx, params.token))

// Only readers of the mail have the token, so `has_account` is not disclosed to others.
async function preview(ctx: Context, token: string): Promise<InvitationPreview> {
  const row = await findInvitation(ctx.prisma, token, ctx.clock.now())
  const { organizationId, email, role, workspaceIds } = row
  const workspaces = await ctx.prisma.workspace.findMany({
    where: { id: { in: workspaceIds }, organizationId, deletedAt: null },
    select: { name: true },
  })
  return {
    organization: { name: row.organization.name },
    invited_by: { name: row.inviter.name },
    email,
    role,
    workspaces,
    has_account: (await ctx.prisma.user.count({ where: { email } })) > 0,
    expires_at: row.expiresAt.toISOString(),
  }
}

type Found = Awaited<ReturnType<typeof findInvitation>>
type Session = Awaited<ReturnType<typeof startSession>>

export const acceptInvitation = endpoint(operations.acceptInvitation, (ctx, { request, body: { token, ...account } }) =>
  accept(ctx, request, token, account),
)

export const acceptInvitationOfPath = endpoint(operations.acceptInvitationOfPath, (ctx, { request, params, body }) =>
  accept(ctx, request, params.token, body),
)

async function accept(ctx: Context, request: Request, token: string, { name, password }: AcceptInvitationBody) {
  const invitation = await findInvitation(ctx.prisma, token, ctx.clock.now())
  const isNew = name !== undefined && password !== undefined
  return isNew ? register(ctx, request, invitation, { name, password }) : join(ctx, request, invitation)
}

async function join(ctx: Context, request: Request, invitation: Found) {
  const { userId, address } = await findUser(ctx, request)
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId } })
  if (user.email !== invitation.email) {
    throw new AppError(
      'invitation_email_mismatch',
      'This invitation is for another email address: sign in with that address.',
    )
  }
  const now = ctx.clock.now()
  const by = { userId, address }
  const workspaceIds = await ctx.prisma.$transaction(async tx => {
    await recordConfirmedEmail(ctx, tx, userId, { proof: 'session', address })
    return joinOrganization(ctx, tx, invitation, by, now)
  })
  return present(invitation, workspaceIds, null)
}

// The caller got the link by mail, so the address is proven.
async function register(
  ctx: Context,
  request: Request,
  invitation: Found,
  { name, password }: { name: string; password: string },
) {
  requirePasswordLogin(ctx)
  requireRegistrationByInvitation(ctx.config)
  const address = callerAddress(request)
  await consumeRequest(ctx, 'invited registration', address)
  const now = ctx.clock.now()
  const account = { email: invitation.email, emailConfirmedAt: new Date(now) }
  const data = { id: newUuid(), name, ...account, passwordHash: await hashPassword(password, address) }
  const open = async (tx: PrismaTransaction) => {
    const user = await tx.user.create({ data })
    const workspaceIds = await joinOrganization(ctx, tx, invitation, { userId: user.id, address }, now)
    return { workspaceIds, session: await startSession(ctx, tx, user, request) }
  }
  const taken = new AppError('email_taken', 'This address has an account: sign in first.')
  const { workspaceIds, session } = await refuseDuplicate(ctx.prisma.$transaction(open), taken)
  return new ApiResponse({ status: 200, headers: session.headers, body: present(invitation, workspaceIds, session) })
}

function present({ organization, role }: Found, workspaceIds: string[], session: Session | null): AcceptedInvitation {
  const { id, name, slug } = organization
  return {
    organization: { id: toId('org', id), name, slug },
    role,
    workspace_ids: workspaceIds.map(id => toId('ws', id)),
    session: session?.body ?? null,
  }
}

/** Finds the open invitation of a token. Throws `not_found`, or the reason why it cannot be accepted. */
async function findInvitation(tx: PrismaTransaction, token: string, now: number) {
  const tokenHash = hashOneTimeToken(token)
  const row = await tx.invitation.findUnique({
    where: { tokenHash, organization: { deletedAt: null } },
    include: { organization: true, inviter: { select: { name: true } } },
  })
  if (!row) throw notFound()
  requireOpen(row, now)
  return row
}

function requireOpen(row: InvitationRow, now: number): void {
  const status = statusOf(row, now)
  if (status === 'accepted') throw new AppError('invitation_used', 'This invitation has already been accepted.')
  if (status === 'revoked') throw revoked()
  if (status === 'expired') throw new AppError('invitation_expired', 'This invitation has expired: request a new one.')
}

/**
 * Adds a user to an organization and to the workspaces of an invitation, once. The inviter must still have the right to
 * invite.
 * @returns The workspaces that the user has joined.
 */
async function joinOrganization(
  ctx: Context,
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
  if (role === 'owner') await requireMayOwn(ctx, tx, userId)
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
  const who = { organizationId, user: { userId }, apiKeyId: null, address: by.address, right: null }
  await audit(tx, who, 'member.joined', toId('user', userId), {
    role,
    invitation: toId('inv', id),
    workspace_ids: workspaces.map(({ id }) => toId('ws', id)),
  })
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
