import { createWorkspaceBody, workspace } from '@belfry/contract'
import { ensureSigningSecret } from '@belfry/db'
import { newUuid, toId } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { created } from '../http/reply.ts'

export const createWorkspace = endpoint({
  right: 'workspace.create',
  summary: 'Create a workspace',
  answer: { status: 201, body: workspace },
  params: { org: 'org' },
  body: createWorkspaceBody,
  async handle(ctx, { caller, body }) {
    const { organizationId } = caller
    const workspace = await ctx.prisma.workspace.create({ data: { id: newUuid(), organizationId, name: body.name } })
    await ensureSigningSecret(ctx.pool, ctx.config.masterKeys, workspace.id)
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
