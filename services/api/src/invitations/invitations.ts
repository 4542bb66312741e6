import type { Invitation } from '@belfry/contract/invitation'
import { operations } from '@belfry/contract/operations'
import type { Invitation as StoredInvitation } from '@belfry/db/generated/client'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError, invalidField, notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { type Actor, lowerWorkspaceRole, mayGrant, type Role, type WorkspaceRole } from '@belfry/domain/permissions'
import { invitationMail } from '@belfry/messages'
import { addMail, refuseBlockedAddress } from '../account/account-mail.ts'
import { audit } from '../audit/audit.ts'
import type { CallerOf } from '../auth/authorize.ts'
import { newOneTimeToken } from '../auth/one-time-token.ts'
import { consumeMail, consumeOne } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { created } from '../http/response.ts'
import { lockOrganization } from '../organizations/members.ts'
import { type Quota, readQuota, refuseOverCount } from '../quotas/quotas.ts'

export const createInvitation = endpoint(operations.createInvitation, async (ctx, { caller, body }) => {
  const { organizationId, user, actor } = caller
  requireGrantable(actor, body.role)
  const email = body.email.toLowerCase()
  await refuseBlockedAddress(ctx, email)
  await consumeOne(ctx, 'invitations of', organizationId)
  await consumeMail(ctx, 'mail', email, caller.address)
  const id = newUuid()
  const { token, tokenHash } = newOneTimeToken()
  const expiresAt = new Date(ctx.clock.now() + invitationMs)
  const quota = await readQuota(ctx, organizationId)
  const row = await ctx.prisma.$transaction(async tx => {
    await lockOrganization(tx, organizationId)
    await requireInvitable(ctx, tx, quota, { id, organizationId, email })
    const by = inviterOf(caller)
    const workspaceIds = await requireWorkspaces(tx, by, body.workspace_ids)
    const { role, workspace_role: workspaceRole } = body
    await requireGrantableInWorkspaces(tx, by, { workspaceRole, workspaceIds })
    const data = { id, organizationId, email, role, workspaceRole, workspaceIds, tokenHash, expiresAt }
    const row = await tx.invitation.create({ data: { ...data, invitedBy: user.userId }, include: { inviter } })
    await storeInvitationMail(ctx, tx, row, token)
    await audit(tx, caller, 'invitation.created', toId('inv', id), {
      email,
      role,
      workspace_role: workspaceRole,
      workspace_ids: body.workspace_ids.map(workspaceId => toId('ws', workspaceId)),
    })
    return row
  })
  const invitations = `/api/v1/organizations/${toId('org', organizationId)}/invitations`
  return created(invitations, presentInvitation(row, ctx.clock.now()))
})

// Rejects an address of a member or with another open invitation, and one more invitation than the tier allows.
async function requireInvitable(
  ctx: Context,
  tx: PrismaTransaction,
  quota: Quota,
  { id, organizationId, email }: Pick<InvitationRow, 'id' | 'organizationId' | 'email'>,
): Promise<void> {
  const members = await tx.membership.count({ where: { organizationId, user: { email } } })
  if (members > 0) throw new AppError('already_member', 'A member already has this email address.')
  const now = new Date(ctx.clock.now())
  const others = { organizationId, id: { not: id }, acceptedAt: null, revokedAt: null }
  const toAddress = { ...others, email }
  await tx.invitation.updateMany({ where: { ...toAddress, expiresAt: { lte: now } }, data: { revokedAt: now } })
  if ((await tx.invitation.count({ where: toAddress })) > 0) {
    throw new AppError('already_invited', 'An invitation to this address is open: resend it, or revoke it first.')
  }
  const open = await tx.invitation.count({ where: { ...others, expiresAt: { gt: now } } })
  refuseOverCount(quota, 'invitations', open)
}

async function requireWorkspaces(tx: PrismaTransaction, by: Inviter, ids: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return []
  const found = await invitableWorkspaces(tx, wanted, by)
  if (found.length === wanted.length) return wanted
  const message = 'workspace_ids may contain only workspaces of the organization to which you may invite.'
  throw invalidField('workspace_ids', 'unknown_workspace', message)
}

export const listInvitations = endpoint(
  operations.listInvitations,
  async (ctx, { caller: { organizationId }, query }) => {
    const page = { include: { inviter }, orderBy: { id: 'desc' } } as const
    const find = ({ before, take }: PageRows) =>
      ctx.prisma.invitation.findMany({ ...page, where: { organizationId, id: before }, take })
    const now = ctx.clock.now()
    return readPage(`invitations:${organizationId}`, query, find, row => presentInvitation(row, now))
  },
)

export const resendInvitation = endpoint(operations.resendInvitation, async (ctx, { caller, params: { inv: id } }) => {
  const { organizationId, user } = caller
  const found = await ctx.prisma.invitation.findFirst({ where: { id, organizationId } })
  if (!found) throw notFound()
  requireGrantable(caller.actor, found.role)
  await refuseBlockedAddress(ctx, found.email)
  await consumeOne(ctx, 'invitations of', organizationId)
  await consumeMail(ctx, 'mail', found.email, caller.address)
  const { token, tokenHash } = newOneTimeToken()
  const expiresAt = new Date(ctx.clock.now() + invitationMs)
  const quota = await readQuota(ctx, organizationId)
  const row = await ctx.prisma.$transaction(async tx => {
    await lockOrganization(tx, organizationId)
    await requireGrantableInWorkspaces(tx, inviterOf(caller), found)
    // The caller becomes the inviter, whose rights count when it is accepted.
    const data = { tokenHash, expiresAt, invitedBy: user.userId }
    const { count } = await tx.invitation.updateMany({
      where: { id, organizationId, acceptedAt: null, revokedAt: null },
      data,
    })
    const row = await tx.invitation.findUniqueOrThrow({ where: { id, organizationId }, include: { inviter } })
    if (count === 0 && row.acceptedAt) throw new AppError('invitation_used', 'The invitation has been accepted.')
    if (count === 0) throw revoked()
    await requireInvitable(ctx, tx, quota, row)
    await storeInvitationMail(ctx, tx, row, token)
    await audit(tx, caller, 'invitation.resent', toId('inv', id), { email: row.email })
    return row
  })
  return presentInvitation(row, ctx.clock.now())
})

export const revokeInvitation = endpoint(operations.revokeInvitation, async (ctx, { caller, params: { inv: id } }) => {
  const { organizationId } = caller
  await ctx.prisma.$transaction(async tx => {
    const row = await tx.invitation.findFirst({ where: { id, organizationId } })
    if (!row) throw notFound()
    requireGrantable(caller.actor, row.role)
    const open = { id, organizationId, acceptedAt: null, revokedAt: null }
    const { count } = await tx.invitation.updateMany({
      where: open,
      data: { revokedAt: new Date(ctx.clock.now()) },
    })
    if (count > 0) await audit(tx, caller, 'invitation.revoked', toId('inv', id), { email: row.email })
    else if (await tx.invitation.findFirst({ where: { id, organizationId, acceptedAt: { not: null } } })) {
      throw new AppError('invitation_used', 'The invitation has been accepted: remove the member instead.')
    }
  })
})

const invitationMs = 7 * 24 * 3_600_000

async function storeInvitationMail(
  { config: { masterKeys, publicUrl } }: Context,
  tx: PrismaTransaction,
  { organizationId, email, inviter }: ShownInvitation,
  token: string,
): Promise<void> {
  const { name: organization } = await tx.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const url = `${publicUrl}/invitations#${token}`
  const mail = invitationMail(email, { organization, inviter: inviter.name, url })
  await addMail(tx, 'invitation', mail, { masterKeys, usefulMs: invitationMs, tenant: { organizationId } })
}

/** Throws `forbidden` for an invitation to a role above the caller's own. */
function requireGrantable(actor: Actor, role: Role): void {
  if (actor.kind === 'user' && mayGrant(actor.role, role)) return
  throw new AppError('forbidden', `Inviting to the role ${role} requires that role or a higher one.`)
}

type Inviter = { organizationId: string; userId: string; role: Role }

function inviterOf({ organizationId, user, actor }: CallerOf<'invitation.create'>): Inviter {
  return { organizationId, userId: user.userId, role: actor.kind === 'user' ? actor.role : 'member' }
}

/**
 * Returns the workspaces to which a user may invite, with the highest role that the user may grant: all of the organization
 * for owners and admins, and for a member only the member's own.
 */
export async function invitableWorkspaces(
  tx: PrismaTransaction,
  ids: readonly string[],
  { organizationId, userId, role }: Inviter,
): Promise<Array<{ id: string; maxRole: WorkspaceRole }>> {
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
async function requireGrantableInWorkspaces(
  tx: PrismaTransaction,
  by: Inviter,
  { workspaceRole, workspaceIds }: { workspaceRole: WorkspaceRole; workspaceIds: readonly string[] },
): Promise<void> {
  const refused = new AppError(
    'forbidden',
    `Inviting as ${workspaceRole} requires that role in each of the workspaces.`,
  )
  let highest: WorkspaceRole[]
  if (workspaceIds.length > 0) {
    const existing = { id: { in: [...workspaceIds] }, organizationId: by.organizationId, deletedAt: null }
    highest = (await invitableWorkspaces(tx, workspaceIds, by)).map(({ maxRole }) => maxRole)
    if (highest.length < (await tx.workspace.count({ where: existing }))) throw refused
  } else {
    const { organizationId, userId } = by
    const where = { organizationId_userId: { organizationId, userId } }
    highest = [maxLaterRole(await tx.membership.findUniqueOrThrow({ where }))]
  }
  if (!highest.every(max => lowerWorkspaceRole(max, workspaceRole) === workspaceRole)) throw refused
}

export type InvitationRow = Omit<StoredInvitation, 'tokenHash' | 'invitedBy'>

const inviter = { select: { id: true, name: true } } as const

type ShownInvitation = InvitationRow & { inviter: { id: string; name: string } }

function presentInvitation(row: ShownInvitation, now: number): Invitation {
  return {
    id: toId('inv', row.id),
    organization_id: toId('org', row.organizationId),
    email: row.email,
    role: row.role,
    workspace_role: row.workspaceRole,
    workspace_ids: row.workspaceIds.map(id => toId('ws', id)),
    status: statusOf(row, now),
    invited_by: { id: toId('user', row.inviter.id), name: row.inviter.name },
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  }
}

export function statusOf({ acceptedAt, revokedAt, expiresAt }: InvitationRow, now: number): Invitation['status'] {
  if (acceptedAt) return 'accepted'
  if (revokedAt) return 'revoked'
  return expiresAt.getTime() > now ? 'pending' : 'expired'
}

/** The refusal of an invitation that was revoked, or whose inviter may no longer invite. */
export function revoked(): AppError {
  return new AppError('invitation_revoked', 'This invitation is no longer valid: request a new one.')
}
