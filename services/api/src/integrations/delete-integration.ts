import { inWorkspace, deleteIntegration as removeIntegration } from '@belfry/db'
import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'

export const deleteIntegration = endpoint({
  right: 'integration.delete',
  summary: 'Delete an integration; alerts that wait to be sent are dropped',
  answer: { status: 204 },
  params: { ws: 'ws', int: 'int' },
  async handle(ctx, { caller, params: { int: id } }) {
    const { workspaceId } = caller
    const row = await inWorkspace(ctx.pool, workspaceId, async tx => {
      const row = await removeIntegration(tx, workspaceId, id)
      const details = row && { name: row.name, channel: row.channel, target: row.shownTarget }
      if (details) await audit(tx, caller, { action: 'integration.deleted', objectId: toId('int', id), details })
      return row
    })
    if (!row) throw notFound()
    return noContent()
  },
})
