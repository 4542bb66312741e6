import { createWorkspaceBody } from '@belfry/contract'
import { newUuid, toId } from '@belfry/domain'
import { requireRight } from '../auth/require-right.ts'
import { endpoint } from '../http/endpoint.ts'
import { created } from '../http/reply.ts'

export const createWorkspace = endpoint({
  auth: 'session',
  params: { org: 'org' },
  body: createWorkspaceBody,
  async handle(ctx, { caller, params, body }) {
    const organizationId = params.org
    await requireRight(ctx, caller.userId, { id: organizationId }, 'workspace.create')
    const workspace = await ctx.prisma.workspace.create({ data: { id: newUuid(), organizationId, name: body.name } })
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
