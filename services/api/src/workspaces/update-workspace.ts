import { updateWorkspaceBody, workspace } from '@belfry/contract'
import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { given } from '../http/given.ts'
import { ok } from '../http/reply.ts'
import { lockWorkspace } from './lock-workspace.ts'
import { presentWorkspace } from './present-workspace.ts'

export const updateWorkspace = endpoint({
  right: 'workspace.change',
  summary: 'Change the name of a workspace',
  answer: { status: 200, body: workspace },
  params: { ws: 'ws' },
  body: updateWorkspaceBody,
  async handle(ctx, { caller, body }) {
    const row = await ctx.prisma.$transaction(async tx => {
      const before = await lockWorkspace(tx, caller)
      const after = await tx.workspace.update({ where: { id: caller.workspaceId }, data: given({ name: body.name }) })
      if (after.name !== before.name) {
        const details = { name: { from: before.name, to: after.name } }
        await audit(tx, caller, { action: 'workspace.changed', objectId: toId('ws', after.id), details })
      }
      return after
    })
    return ok(presentWorkspace(row))
  },
})
