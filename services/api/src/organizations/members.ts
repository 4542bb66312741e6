import { operations } from '@belfry/contract/operations'
import type { Member } from '@belfry/contract/organization'
import type { WorkspaceMember } from '@belfry/contract/workspace'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError, notFound } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { type Actor, mayGrant, type Role, type WorkspaceRole } from '@belfry/domain/permissions'
import { accountDeletedMail } from '@belfry/messages'
import { storeMail } from '../account/account-mail.ts'
import { provePassword, requirePasswordLogin, wrongPassword } from '../account/password.ts'
import { audit } from '../audit/audit.ts'
import { type CallerOf, oldestFirst, requireRight } from '../auth/authorize.ts'
import type { UserCaller } from '../auth/find-user.ts'
import { factorsOf, requireStepUp } from '../auth/second-factors.ts'
import { noSessionCookie } from '../auth/session-token.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { ApiResponse } from '../http/response.ts'

export const listMembers = endpoint(operations.listMembers, async (ctx, { caller: { organizationId }, query }) => {
  const find = async ({ before, take }: PageRows) => {
    const where = { organizationId, userId: before }
    return withIds(await ctx.prisma.membership.findMany({ ...byUser, where, take }))
  }
  return readPage(`members:${organizationId}`, query, find, presentMember)
})

export const updateMember = endpoint(operations.updateMember, async (ctx, { caller, params, body: { role } }) => {
  const row = await changeMembership(ctx, caller, params.user, async (tx, present, own) => {
    requireRank(own, role)
    if (role !== 'owner') await requireAnotherOwner(tx, present)
    if (role !== present.role) {
      if (role === 'owner') await requireMayOwn(ctx, tx, params.user)
      await audit(tx, caller, 'member.role_changed', toId('user', params.user), { from: present.role, to: role })
    }
    return tx.membership.update({
      where: { organizationId_userId: { organizationId: caller.organizationId, userId: params.user } },
      data: { role },
      include: { user: memberUser },
    })
  })
  return presentMember(row)
})

// Every member may leave. Removing another member requires `member.manage`.
export const removeMember = endpoint(operations.removeMember, async (ctx, { caller, params: { user: userId } }) => {
  const { organizationId } = caller
  await changeMembership(ctx, caller, userId, async (tx, present, _own, manager) => {
    await requireAnotherOwner(tx, present)
    await removeMembership(tx, organizationId, userId)
    const [objectId, details] = [toId('user', userId), { role: present.role }]
    if (manager) await audit(tx, manager, 'member.removed', objectId, details)
    else await audit(tx, caller, 'member.left', objectId, details)
  })
})

type Membership = { organizationId: string; userId: string; role: Role }

type Manager = CallerOf<'member.manage'>

/**
 * Changes the membership of one user, under a lock of all memberships of the organization. The right and the rank of the
 * caller are checked under the lock as well. `manager` is the caller who changes another member.
 */
async function changeMembership<T>(
  ctx: Context,
  caller: CallerOf<'member.manage' | 'member.leave'>,
  userId: string,
  change: (tx: PrismaTransaction, present: Membership, own: Role, manager: Manager | null) => Promise<T>,
): Promise<T> {
  const { organizationId } = caller
  return ctx.prisma.$transaction(async tx => {
    await lockOrganization(tx, organizationId)
    const users = { in: [caller.user.userId, userId] }
    const rows = await tx.membership.findMany({ where: { organizationId, userId: users } })
    const own = rows.find(row => row.userId === caller.user.userId)
    const present = rows.find(row => row.userId === userId)
    if (!own || !present) throw notFound()
    const now = { ...caller, actor: actorNow(caller.actor, own.role) }
    const manager = userId === caller.user.userId ? null : requireRight(now, 'member.manage')
    requireRank(own.role, present.role)
    return change(tx, present, own.role, manager)
  })
}

function actorNow(actor: Actor, role: Role): Actor {
  return actor.kind === 'user' ? { ...actor, role } : actor
}

/** Throws `forbidden` unless a role may grant and remove another: only owners may add or remove owners. */
function requireRank(own: Role, other: Role): void {
  if (!mayGrant(own, other)) throw new AppError('forbidden', `Only ${other}s can do this.`)
}

/** Throws `last_owner` for the last owner. The caller holds the lock of the organization, so the count stays right. */
async function requireAnotherOwner(tx: PrismaTransaction, { organizationId, userId, role }: Membership) {
  if (role !== 'owner') return
  if (await isLastOwner(tx, organizationId, userId))
    throw new AppError('last_owner', 'Make another member an owner first: an organization needs at least one.')
}

export async function isLastOwner(tx: PrismaTransaction, organizationId: string, userId: string): Promise<boolean> {
  return (await tx.membership.count({ where: { organizationId, role: 'owner', userId: { not: userId } } })) === 0
}

/**
 * Throws `organization_limit_reached` unless a user may own one more organization. The lock makes concurrent changes of a user
 * wait for each other, so the count stays exact.
 */
export async function requireMayOwn(ctx: Context, tx: PrismaTransaction, userId: string): Promise<void> {
  await tx.$queryRaw`SELECT FROM users WHERE id = ${userId}::uuid FOR NO KEY UPDATE`
  const { organizationsPerUser } = ctx.config
  const owned = await tx.membership.count({ where: { userId, role: 'owner' } })
  if (owned < organizationsPerUser) return
  throw new AppError('organization_limit_reached', `A user can own ${organizationsPerUser} organizations.`)
}

/** Returns whether the suspension of its oldest owner suspends an organization. */
export async function isOwnerSuspended(tx: PrismaTransaction, organizationId: string): Promise<boolean> {
  const user = { select: { suspendedAt: true } }
  const where = { organizationId, role: 'owner' } as const
  const owner = await tx.membership.findFirst({ where, orderBy: oldestFirst, select: { user } })
  return owner !== null && owner.user.suspendedAt !== null
}

export async function removeMembership(tx: PrismaTransaction, organizationId: string, userId: string): Promise<void> {
  await tx.workspaceMember.deleteMany({ where: { userId, workspace: { organizationId } } })
  await tx.membership.delete({ where: { organizationId_userId: { organizationId, userId } } })
}

/** Selects the columns of a user that other members may see. */
export const memberUser = { select: { id: true, email: true, name: true } } as const

export const byUser = { include: { user: memberUser }, orderBy: { userId: 'desc' } } as const

/** Gives members the ids of their users, by which a list of them is paged. */
export function withIds<Row extends { userId: string }>(rows: Row[]) {
  return rows.map(row => ({ id: row.userId, ...row }))
}

type UserRow = { id: string; email: string; name: string }

type MemberRow = { user: UserRow; role: Role; workspaceRole: WorkspaceRole; joinedAt: Date }

export function presentMember({ user, role, workspaceRole, joinedAt }: MemberRow): Member {
  return { user: presentMemberUser(user), role, workspace_role: workspaceRole, joined_at: joinedAt.toISOString() }
}

export function presentWorkspaceMember(row: { user: UserRow; role: WorkspaceRole; createdAt: Date }): WorkspaceMember {
  return { user: presentMemberUser(row.user), role: row.role, added_at: row.createdAt.toISOString() }
}

function presentMemberUser({ id, email, name }: UserRow): Member['user'] {
  return { id: toId('user', id), email, name }
}

const recentMs = 10 * 60_000

export const deleteMe = endpoint(operations.deleteMe, async (ctx, { caller, body }) => {
  const { userId, sessionId, address } = caller
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId } })
  const origin = { address, known: sessionId }
  const { current_password: password } = body
  if (password === undefined) await requireRecentOidcSignIn(ctx, sessionId)
  else {
    requirePasswordLogin(ctx)
    if (!(await provePassword(ctx, user, origin, password))) throw wrongPassword()
  }
  // Without a second factor the password is the confirmation.
  if ((await factorsOf(ctx.prisma, userId)).length > 0) await requireStepUp(ctx, caller)
  await ctx.prisma.$transaction(async tx => {
    for (const membership of await lockMemberships(tx, userId)) await leave(tx, caller, membership)
    const mail = accountDeletedMail(user.email, new Date(ctx.clock.now()))
    await storeMail(ctx, tx, user, { label: 'deleted account', mail, address })
    // Its sessions, tokens of links and invitations go with it. The log of the account expires.
    await tx.user.delete({ where: { id: userId } })
  })
  return new ApiResponse({ status: 204, headers: { 'Set-Cookie': noSessionCookie(ctx) } })
})

/** Returns the memberships of a user, whose organizations are locked. Throws `last_owner` with the organizations in the way. */
async function lockMemberships(tx: PrismaTransaction, userId: string): Promise<Membership[]> {
  // In one order, so two deletions do not wait for each other.
  const of = { where: { userId }, orderBy: { organizationId: 'asc' } } as const
  for (const { organizationId } of await tx.membership.findMany(of)) await lockOrganization(tx, organizationId)
  const memberships = await tx.membership.findMany({ ...of, include: { organization: { select: { name: true } } } })
  const organizations: Array<{ id: string; name: string }> = []
  for (const { role, organizationId, organization } of memberships) {
    const isInTheWay = role === 'owner' && (await isLastOwner(tx, organizationId, userId))
    if (isInTheWay) organizations.push({ id: toId('org', organizationId), name: organization.name })
  }
  if (organizations.length === 0) return memberships
  const names = organizations.map(({ name }) => name).join(', ')
  const them = organizations.length === 1 ? 'it' : 'them'
  const message = `You are the last owner of ${names}. Transfer or delete ${them} first.`
  throw new AppError('last_owner', message, { extra: { organizations } })
}

async function leave(tx: PrismaTransaction, { userId, address }: UserCaller, { organizationId, role }: Membership) {
  await removeMembership(tx, organizationId, userId)
  const by = { organizationId, user: { userId }, apiKeyId: null, address, right: null }
  await audit(tx, by, 'member.left', toId('user', userId), { role, account: 'deleted' })
}

// Refuses a session that did not begin with a sign-in through the issuer, at most ten minutes ago.
async function requireRecentOidcSignIn(ctx: Context, sessionId: string): Promise<void> {
  const since = new Date(ctx.clock.now() - recentMs)
  const where = { id: sessionId, logoutHint: { not: null }, createdAt: { gt: since } }
  if ((await ctx.prisma.session.count({ where })) > 0) return
  const message = 'Send current_password, or do this within ten minutes after a sign-in with single sign-on.'
  throw new AppError('forbidden', message)
}

/**
 * Locks the members, workspaces and settings of an organization against changes until the transaction ends. Throws
 * `not_found` when the organization was just deleted.
 */
export async function lockOrganization(tx: PrismaTransaction, organizationId: string): Promise<void> {
  const rows = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM organizations WHERE id = ${organizationId}::uuid AND deleted_at IS NULL FOR UPDATE`
  if (rows.length === 0) throw notFound()
}
