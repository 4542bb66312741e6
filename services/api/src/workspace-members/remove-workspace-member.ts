import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'

export const removeWorkspaceMember = endpoint({
  right: 'workspace_member.manage',
  summary: 'Remove a member from a workspace',
  answer: { status: 204 },
  params: { ws: 'ws', user: 'user' },
  async handle(ctx, { caller, params: { user: userId } }) {
    await ctx.prisma.$transaction(async tx => {
      const { count } = await tx.workspaceMember.deleteMany({ where: { workspaceId: caller.workspaceId, userId } })
      if (count === 0) throw notFound()
      await audit(tx, caller, { action: 'workspace_member.removed', objectId: toId('user', userId) })
    })
    return noContent()
  },
})
