import type { AccountExport } from '@belfry/contract/account'
import type { AccountEntry } from '@belfry/contract/audit-entry'
import type { Me } from '@belfry/contract/auth'
import { operations } from '@belfry/contract/operations'
import type { AccountEntry as StoredEntry } from '@belfry/db/generated/client'
import type { AccountAction } from '@belfry/domain/audit-action'
import { toId } from '@belfry/domain/id'
import { isOperator } from '../auth/authorize.ts'
import type { UserCaller } from '../auth/find-user.ts'
import { readSecondFactors } from '../auth/second-factors.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { ApiResponse } from '../http/response.ts'
import { recordNewPassword } from './account-mail.ts'
import { deviceName } from './device.ts'
import { mustConfirmEmail } from './mail-links.ts'
import { hashPassword, provePassword, requirePasswordLogin, wrongPassword } from './password.ts'
import { presentSession, presentUser } from './sessions.ts'

const maxOrganizations = 100

export const getMe = endpoint(operations.getMe, async (ctx, { caller }) => readMe(ctx, caller.userId))

async function readMe(ctx: Context, userId: string): Promise<Me> {
  const user = await ctx.prisma.user.findUniqueOrThrow({
    where: { id: userId },
    include: {
      memberships: { include: { organization: true }, orderBy: { joinedAt: 'desc' }, take: maxOrganizations },
    },
  })
  return {
    user: presentUser(user),
    must_confirm_email: mustConfirmEmail(ctx, user),
    is_operator: isOperator(ctx, user),
    organizations: user.memberships.map(({ role, organization: { id, name, slug } }) => ({
      id: toId('org', id),
      name,
      slug,
      role,
    })),
  }
}

export const updateMe = endpoint(operations.updateMe, async (ctx, { caller, body }) => {
  const { name, password, current_password: current } = body
  if (password !== undefined && current !== undefined) await changePassword(ctx, caller, current, password)
  if (name !== undefined) await ctx.prisma.user.update({ where: { id: caller.userId }, data: { name } })
  return readMe(ctx, caller.userId)
})

async function changePassword(ctx: Context, caller: UserCaller, current: string, password: string): Promise<void> {
  requirePasswordLogin(ctx)
  const { userId, sessionId } = caller
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId } })
  if (!(await provePassword(ctx, user, { address: caller.address, known: sessionId }, current))) throw wrongPassword()
  const { passwordHash } = user
  const changed = await hashPassword(password, caller.address)
  await ctx.prisma.$transaction(async tx => {
    const { count } = await tx.user.updateMany({ where: { id: userId, passwordHash }, data: { passwordHash: changed } })
    if (count === 0) throw wrongPassword() // another request has changed it meanwhile
    const change = { action: 'password_changed', address: caller.address, keeps: sessionId } as const
    await recordNewPassword(ctx, tx, user, change)
  })
}

const maxEntries = 10_000
const newest = { orderBy: { id: 'desc' } } as const

export const exportMe = endpoint(operations.exportMe, async (ctx, { caller }) => {
  const { userId } = caller
  const createdKeys = await ctx.prisma.apiKey.findMany({
    where: { createdBy: userId, federatedCredentialId: null },
    orderBy: { id: 'asc' },
  })
  const entries = await ctx.prisma.accountEntry.findMany({ where: { userId }, ...newest, take: maxEntries })
  const user = await ctx.prisma.user.findUniqueOrThrow({
    where: { id: userId },
    include: {
      memberships: { include: { organization: { select: { name: true } } } },
      workspaceMemberships: { include: { workspace: { select: { name: true } } } },
      sessions: true,
      invitations: true,
      identities: true,
    },
  })
  const body: AccountExport = {
    exported_at: new Date(ctx.clock.now()).toISOString(),
    user: { ...presentUser(user), email_confirmed_at: user.emailConfirmedAt?.toISOString() ?? null },
    organizations: user.memberships.map(({ organizationId, organization, role, joinedAt }) => {
      return { id: toId('org', organizationId), name: organization.name, role, joined_at: joinedAt.toISOString() }
    }),
    workspaces: user.workspaceMemberships.map(({ workspaceId, workspace, role, createdAt }) => {
      return { id: toId('ws', workspaceId), name: workspace.name, role, added_at: createdAt.toISOString() }
    }),
    identities: user.identities.map(({ issuer, subject, createdAt }) => {
      return { issuer, subject, created_at: createdAt.toISOString() }
    }),
    second_factors: await readSecondFactors(ctx.prisma, userId),
    sessions: user.sessions.map(row => presentSession(row, caller)),
    api_keys: createdKeys.map(({ id, name, workspaceId, createdAt, revokedAt }) => ({
      id: toId('key', id),
      name,
      workspace_id: toId('ws', workspaceId),
      created_at: createdAt.toISOString(),
      revoked_at: revokedAt?.toISOString() ?? null,
    })),
    invitations: user.invitations.map(({ id, organizationId, email, createdAt }) => ({
      id: toId('inv', id),
      organization_id: toId('org', organizationId),
      email,
      created_at: createdAt.toISOString(),
    })),
    security_log: entries.map(presentAccountEntry),
  }
  const headers = { 'Content-Disposition': 'attachment; filename="belfry-account.json"' }
  return new ApiResponse({ status: 200, body, headers })
})

export const listAccountLog = endpoint(operations.listAccountLog, async (ctx, { caller, query }) => {
  const find = ({ before, take }: PageRows) =>
    ctx.prisma.accountEntry.findMany({ where: { userId: caller.userId, id: before }, ...newest, take })
  return readPage('account-log', query, find, presentAccountEntry)
})

function presentAccountEntry({ id, action, address, agent, createdAt }: StoredEntry): AccountEntry {
  const device = agent === null ? null : deviceName(agent)
  return { id: toId('aud', id), action: action as AccountAction, address, device, created_at: createdAt.toISOString() }
}
