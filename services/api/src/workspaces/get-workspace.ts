import { workspace } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { presentWorkspace } from './present-workspace.ts'

export const getWorkspace = endpoint({
  right: 'workspace.read',
  summary: 'Read a workspace',
  answer: { status: 200, body: workspace },
  params: { ws: 'ws' },
  async handle(ctx, { caller: { organizationId, workspaceId } }) {
    return ok(
      presentWorkspace(await ctx.prisma.workspace.findFirstOrThrow({ where: { id: workspaceId, organizationId } })),
    )
  },
})
