import { createWorkspaceBody, workspace } from '@belfry/contract'
import { AppError, newUuid, type TierName, toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { created } from '../http/reply.ts'

export const createWorkspace = endpoint({
  right: 'workspace.create',
  summary: 'Create a workspace',
  answer: { status: 201, body: workspace },
  refusals: ['workspace_limit_reached'],
  params: { org: 'org' },
  body: createWorkspaceBody,
  async handle(ctx, { caller, body }) {
    const { organizationId } = caller
    const workspace = await insertWithinLimit(ctx, organizationId, body.name)
    const id = toId('ws', workspace.id)
    return created(`/api/v1/workspaces/${id}`, {
      id,
      organization_id: toId('org', workspace.organizationId),
      name: workspace.name,
      created_at: workspace.createdAt.toISOString(),
      updated_at: workspace.updatedAt.toISOString(),
    })
  },
})

// The organization's row is locked first, so that of several creations each counts those before it.
async function insertWithinLimit(ctx: Context, organizationId: string, name: string) {
  return ctx.prisma.$transaction(async tx => {
    const [organization] = await tx.$queryRaw<Array<{ tier: TierName }>>`
      SELECT tier FROM organizations WHERE id = ${organizationId}::uuid FOR NO KEY UPDATE`
    if (!organization) throw notFound()
    const limit = ctx.config.tiers[organization.tier].workspaces
    if ((await tx.workspace.count({ where: { organizationId } })) >= limit) {
      const message = `The organization has as many workspaces as its tier allows: ${limit}. Choose a higher tier.`
      throw new AppError('workspace_limit_reached', message)
    }
    return tx.workspace.create({ data: { id: newUuid(), organizationId, name } })
  })
}
