import { operations } from '@belfry/contract/operations'
import type { Workspace } from '@belfry/contract/workspace'
import type { Workspace as WorkspaceRow } from '@belfry/db/generated/client'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { ensureSigningSecret } from '@belfry/db/secrets/signing-secrets'
import { AppError, notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import type { TierName } from '@belfry/domain/tiers'
import { audit, changesBetween } from '../audit/audit.ts'
import { forgetApiKeys } from '../auth/api-key.ts'
import type { CallerOf } from '../auth/authorize.ts'
import { requireStepUp } from '../auth/second-factors.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { given } from '../http/given.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { created } from '../http/response.ts'
import { byUser, lockOrganization, memberUser, presentWorkspaceMember, withIds } from '../organizations/members.ts'

export const createWorkspace = endpoint(operations.createWorkspace, async (ctx, { caller, body: { name } }) => {
  const { organizationId, user, actor } = caller
  const id = newUuid()
  // A member sees only workspaces to which the member belongs.
  const isMember = actor.kind === 'user' && actor.role === 'member'
  const members = isMember ? { members: { create: { userId: user.userId, role: 'editor' as const } } } : {}
  const row = await ctx.prisma.$transaction(async tx => {
    await lockOrganization(tx, organizationId)
    await refuseOverLimit(ctx, tx, organizationId)
    await audit(tx, { ...caller, workspaceId: id }, 'workspace.created', toId('ws', id), { name })
    return tx.workspace.create({ data: { id, organizationId, name, ...members } })
  })
  // If the process ends here, the first request that needs the secret creates it.
  await ensureSigningSecret(ctx.pool, ctx.config.masterKeys, id)
  return created('/api/v1/workspaces', presentWorkspace(row))
})

// The caller holds the lock of the organization, so concurrent creations count each other.
async function refuseOverLimit(ctx: Context, tx: PrismaTransaction, organizationId: string): Promise<void> {
  const { tier } = await tx.organization.findUniqueOrThrow({ where: { id: organizationId }, select: { tier: true } })
  const limit = ctx.config.tiers[tier as TierName].workspaces // only names of tiers are stored
  if ((await tx.workspace.count({ where: { organizationId, deletedAt: null } })) < limit) return
  const message = `The organization has as many workspaces as its tier allows: ${limit}. Choose a higher tier.`
  throw new AppError('workspace_limit_reached', message)
}

export const getWorkspace = endpoint(
  operations.getWorkspace,
  async (ctx, { caller: { organizationId, workspaceId } }) =>
    presentWorkspace(await ctx.prisma.workspace.findFirstOrThrow({ where: { id: workspaceId, organizationId } })),
)

export const listWorkspaces = endpoint(operations.listWorkspaces, async (ctx, { caller, query }) => {
  const { organizationId } = caller
  const visible = { organizationId, deletedAt: null, ...visibleTo(caller) }
  const find = ({ before, take }: PageRows) =>
    ctx.prisma.workspace.findMany({ where: { ...visible, id: before }, orderBy: { id: 'desc' }, take })
  return readPage(`workspaces:${organizationId}`, query, find, presentWorkspace)
})

function visibleTo({ actor, user, apiKeyId }: CallerOf<'workspace.list'>) {
  if (apiKeyId !== null) return { apiKeys: { some: { id: apiKeyId } } }
  const isMember = actor.kind === 'user' && actor.role === 'member'
  return isMember && user ? { members: { some: { userId: user.userId } } } : {}
}

export const updateWorkspace = endpoint(operations.updateWorkspace, async (ctx, { caller, body }) => {
  const row = await ctx.prisma.$transaction(async tx => {
    await lockWorkspace(tx, caller)
    const where = { id: caller.workspaceId }
    const before = await tx.workspace.findUniqueOrThrow({ where })
    const data = given({
      name: body.name,
      keepsResponsesWithSecrets: body.keeps_responses_with_secrets,
      asymmetricSignatures: body.asymmetric_signatures,
      switchOffDays: body.switch_off_after_days,
    })
    const after = await tx.workspace.update({ where, data })
    const changes = changesBetween(settingsOf(before), settingsOf(after))
    if (changes) await audit(tx, caller, 'workspace.changed', toId('ws', after.id), changes)
    return after
  })
  return presentWorkspace(row)
})

function settingsOf(row: WorkspaceRow) {
  const { updated_at: _, ...settings } = presentWorkspace(row)
  return settings
}

// After the commit, claims refuse the tasks of the workspace; the scheduler cancels the waiting tasks in batches.
export const deleteWorkspace = endpoint(operations.deleteWorkspace, async (ctx, { caller }) => {
  const { workspaceId } = caller
  await requireStepUp(ctx, caller.user)
  await ctx.prisma.$transaction(async tx => {
    const { name } = await lockWorkspace(tx, caller)
    await tx.workspace.update({ where: { id: workspaceId }, data: { deletedAt: new Date(ctx.clock.now()) } })
    await audit(tx, caller, 'workspace.deleted', toId('ws', workspaceId), { name })
  })
  forgetApiKeys(ctx.apiKeys, key => key.workspaceId === workspaceId)
})

function presentWorkspace(row: WorkspaceRow): Workspace {
  return {
    id: toId('ws', row.id),
    organization_id: toId('org', row.organizationId),
    name: row.name,
    keeps_responses_with_secrets: row.keepsResponsesWithSecrets,
    asymmetric_signatures: row.asymmetricSignatures,
    switch_off_after_days: row.switchOffDays,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

export const listWorkspaceMembers = endpoint(operations.listWorkspaceMembers, async (ctx, { caller, query }) => {
  const { workspaceId } = caller
  const find = async ({ before, take }: PageRows) => {
    const where = { workspaceId, userId: before }
    return withIds(await ctx.prisma.workspaceMember.findMany({ ...byUser, where, take }))
  }
  return readPage(`workspace-members:${workspaceId}`, query, find, presentWorkspaceMember)
})

export const putWorkspaceMember = endpoint(operations.putWorkspaceMember, async (ctx, { caller, params, body }) => {
  const { user: userId } = params
  const { organizationId, workspaceId } = caller
  const key = { workspaceId_userId: { workspaceId, userId } }
  const row = await ctx.prisma.$transaction(async tx => {
    await lockOrganization(tx, organizationId) // keeps the member from leaving meanwhile
    const membership = await tx.membership.findUnique({ where: { organizationId_userId: { organizationId, userId } } })
    if (!membership) throw notFound()
    const before = await tx.workspaceMember.findUnique({ where: key, select: { role: true } })
    const role = body.role ?? before?.role ?? membership.workspaceRole
    const objectId = toId('user', userId)
    if (!before) await audit(tx, caller, 'workspace_member.added', objectId, { role })
    else if (before.role !== role) {
      await audit(tx, caller, 'workspace_member.role_changed', objectId, { from: before.role, to: role })
    }
    const create = { workspaceId, userId, role }
    return tx.workspaceMember.upsert({ where: key, create, update: { role }, include: { user: memberUser } })
  })
  return presentWorkspaceMember(row)
})

export const removeWorkspaceMember = endpoint(operations.removeWorkspaceMember, async (ctx, { caller, params }) => {
  const { user: userId } = params
  await ctx.prisma.$transaction(async tx => {
    const { count } = await tx.workspaceMember.deleteMany({ where: { workspaceId: caller.workspaceId, userId } })
    if (count === 0) throw notFound()
    await audit(tx, caller, 'workspace_member.removed', toId('user', userId))
  })
})

/**
 * Locks a workspace against changes and deletion until the transaction ends. Throws `not_found` when it was just deleted.
 */
export async function lockWorkspace(
  tx: PrismaTransaction,
  { workspaceId, organizationId }: { workspaceId: string; organizationId: string },
): Promise<{ name: string }> {
  const rows = await tx.$queryRaw<Array<{ name: string }>>`
    SELECT name FROM workspaces
    WHERE id = ${workspaceId}::uuid AND organization_id = ${organizationId}::uuid AND deleted_at IS NULL FOR UPDATE`
  if (!rows[0]) throw notFound()
  return rows[0]
}
