import { createWorkspaceBody, workspace } from '@belfry/contract'
import { ensureSigningSecret } from '@belfry/db'
import type { PrismaTransaction } from '@belfry/db/prisma'
import { AppError, newUuid, type TierName, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../http/endpoint.ts'
import { created } from '../http/reply.ts'
import { lockOrganization } from '../organizations/lock-organization.ts'
import { presentWorkspace } from './present-workspace.ts'

export const createWorkspace = endpoint({
  right: 'workspace.create',
  summary: 'Create a workspace',
  answer: { status: 201, body: workspace },
  refusals: ['workspace_limit_reached'],
  params: { org: 'org' },
  body: createWorkspaceBody,
  async handle(ctx, { caller, body: { name } }) {
    const { organizationId, user, actor } = caller
    const id = newUuid()
    // A member sees only workspaces to which the member belongs.
    const isMember = actor.kind === 'user' && actor.role === 'member'
    const members = isMember ? { members: { create: { userId: user.userId, role: 'editor' as const } } } : {}
    const row = await ctx.prisma.$transaction(async tx => {
      await lockOrganization(tx, organizationId)
      await refuseOverLimit(ctx, tx, organizationId)
      const audited = { action: 'workspace.created', objectId: toId('ws', id), details: { name } } as const
      await audit(tx, { ...caller, workspaceId: id }, audited)
      return tx.workspace.create({ data: { id, organizationId, name, ...members } })
    })
    // If the process ends here, the first request that needs the secret creates it.
    await ensureSigningSecret(ctx.pool, ctx.config.masterKeys, id)
    const presented = presentWorkspace(row)
    return created(`/api/v1/workspaces/${presented.id}`, presented)
  },
})

// The caller holds the lock of the organization, so concurrent creations count each other.
async function refuseOverLimit(ctx: Context, tx: PrismaTransaction, organizationId: string): Promise<void> {
  const { tier } = await tx.organization.findUniqueOrThrow({ where: { id: organizationId }, select: { tier: true } })
  const limit = ctx.config.tiers[tier as TierName].workspaces // only names of tiers are stored
  if ((await tx.workspace.count({ where: { organizationId, deletedAt: null } })) < limit) return
  const message = `The organization has as many workspaces as its tier allows: ${limit}. Choose a higher tier.`
  throw new AppError('workspace_limit_reached', message)
}
