import { operations } from '@belfry/contract/operations'
import { toId } from '@belfry/domain/id'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../endpoint.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { notFound } from '../http/refusals.ts'
import { lockOrganization } from '../organizations/lock-organization.ts'
import { byUser, memberUser, presentWorkspaceMember, withIds } from '../organizations/members.ts'

export const listWorkspaceMembers = endpoint(
  operations.listWorkspaceMembers,
  async (ctx, { caller: { workspaceId }, query }) => {
    const find = async ({ before, take }: PageRows) => {
      const where = { workspaceId, userId: before }
      return withIds(await ctx.prisma.workspaceMember.findMany({ ...byUser, where, take }))
    }
    return readPage(`workspace-members:${workspaceId}`, query, find, presentWorkspaceMember)
  },
)

export const putWorkspaceMember = endpoint(
  operations.putWorkspaceMember,
  async (ctx, { caller, params: { user: userId }, body }) => {
    const { organizationId, workspaceId } = caller
    const key = { workspaceId_userId: { workspaceId, userId } }
    const row = await ctx.prisma.$transaction(async tx => {
      await lockOrganization(tx, organizationId) // keeps the member from leaving meanwhile
      const membership = await tx.membership.findUnique({
        where: { organizationId_userId: { organizationId, userId } },
        select: { workspaceRole: true },
      })
      if (!membership) throw notFound()
      const before = await tx.workspaceMember.findUnique({ where: key, select: { role: true } })
      const role = body.role ?? before?.role ?? membership.workspaceRole
      const objectId = toId('user', userId)
      if (!before) await audit(tx, caller, { action: 'workspace_member.added', objectId, details: { role } })
      else if (before.role !== role) {
        const details = { from: before.role, to: role }
        await audit(tx, caller, { action: 'workspace_member.role_changed', objectId, details })
      }
      const create = { workspaceId, userId, role }
      return tx.workspaceMember.upsert({ where: key, create, update: { role }, include: { user: memberUser } })
    })
    return presentWorkspaceMember(row)
  },
)

export const removeWorkspaceMember = endpoint(
  operations.removeWorkspaceMember,
  async (ctx, { caller, params: { user: userId } }) => {
    await ctx.prisma.$transaction(async tx => {
      const { count } = await tx.workspaceMember.deleteMany({ where: { workspaceId: caller.workspaceId, userId } })
      if (count === 0) throw notFound()
      await audit(tx, caller, { action: 'workspace_member.removed', objectId: toId('user', userId) })
    })
  },
)
