import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { forgetApiKeys } from '../auth/api-key-caches.ts'
import { endpoint } from '../http/endpoint.ts'
import { noContent } from '../http/reply.ts'
import { lockWorkspace } from './lock-workspace.ts'

// After the commit no claim starts a task of the workspace; the scheduler cancels the waiting tasks in batches.
export const deleteWorkspace = endpoint({
  right: 'workspace.delete',
  summary: 'Delete a workspace: all of its deliveries stop at once',
  answer: { status: 204 },
  params: { ws: 'ws' },
  async handle(ctx, { caller }) {
    const { workspaceId } = caller
    await ctx.prisma.$transaction(async tx => {
      const { name } = await lockWorkspace(tx, caller)
      await tx.workspace.update({ where: { id: workspaceId }, data: { deletedAt: new Date(ctx.clock.now()) } })
      await audit(tx, caller, { action: 'workspace.deleted', objectId: toId('ws', workspaceId), details: { name } })
    })
    forgetApiKeys(ctx.apiKeys, key => key.workspaceId === workspaceId)
    return noContent()
  },
})
