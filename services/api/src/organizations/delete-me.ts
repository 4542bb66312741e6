import { operations } from '@belfry/contract/operations'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import type { Role } from '@belfry/domain/permissions'
import { mailAccountDeletion } from '../account/account-mail.ts'
import { provePassword, requirePasswordLogin } from '../account/password.ts'
import { audit } from '../audit/audit.ts'
import { noSessionCookie } from '../auth/cookies.ts'
import type { UserCaller } from '../auth/find-user.ts'
import { factorsOf, requireStepUp } from '../auth/second-factors.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { Reply } from '../http/reply.ts'
import { lockOrganization } from './lock-organization.ts'

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
    await mailAccountDeletion(ctx, tx, user, address)
    // Its sessions, tokens of links and invitations go with it. The log of the account expires.
    await tx.user.delete({ where: { id: userId } })
  })
  return new Reply({ status: 204, headers: { 'Set-Cookie': noSessionCookie(ctx) } })
})

type Membership = { organizationId: string; role: Role }

/** Returns the memberships of a user, whose organizations are locked. Throws `last_owner` with the organizations in the way. */
async function lockMemberships(tx: PrismaTransaction, userId: string): Promise<Membership[]> {
  // In one order, so two deletions do not wait for each other.
  const of = { where: { userId }, orderBy: { organizationId: 'asc' } } as const
  for (const { organizationId } of await tx.membership.findMany(of)) await lockOrganization(tx, organizationId)
  const memberships = await tx.membership.findMany({
    ...of,
    select: {
      organizationId: true,
      role: true,
      organization: {
        select: {
          name: true,
          memberships: { where: { role: 'owner', userId: { not: userId } }, select: { userId: true }, take: 1 },
        },
      },
    },
  })
  const owned = memberships.filter(
    ({ role, organization }) => role === 'owner' && organization.memberships.length === 0,
  )
  if (owned.length === 0) return memberships
  const organizations = owned.map(({ organizationId: id, organization: { name } }) => ({ id: toId('org', id), name }))
  const names = organizations.map(({ name }) => name).join(', ')
  const message = `You are the last owner of ${names}. Transfer or delete ${owned.length === 1 ? 'it' : 'them'} first.`
  throw new AppError('last_owner', message, { extra: { organizations } })
}

async function leave(tx: PrismaTransaction, { userId, address }: UserCaller, { organizationId, role }: Membership) {
  await tx.workspaceMember.deleteMany({ where: { userId, workspace: { organizationId } } })
  await tx.membership.delete({ where: { organizationId_userId: { organizationId, userId } } })
  const by = { organizationId, user: { userId }, apiKeyId: null, address, right: null }
  const details = { role, account: 'deleted' }
  await audit(tx, by, { action: 'member.left', objectId: toId('user', userId), details })
}

function wrongPassword(): AppError {
  const error = { path: 'current_password', code: 'wrong_password', message: 'The current password is wrong.' }
  return invalid('body', [error])
}

// Refuses a session that did not begin with a sign-in through the issuer, at most ten minutes ago.
async function requireRecentOidcSignIn(ctx: Context, sessionId: string): Promise<void> {
  const since = new Date(ctx.clock.now() - recentMs)
  const where = { id: sessionId, logoutHint: { not: null }, createdAt: { gt: since } }
  if ((await ctx.prisma.session.count({ where })) > 0) return
  const message = 'Send current_password, or do this within ten minutes after a sign-in with single sign-on.'
  throw new AppError('forbidden', message)
}
