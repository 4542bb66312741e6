import { createIntegrationBody, integration } from '@belfry/contract'
import { insertIntegration, inWorkspace, maxIntegrations } from '@belfry/db'
import { AppError, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { integrationTarget, presentIntegration } from './present-integration.ts'

export const createIntegration = endpoint({
  right: 'integration.write',
  summary: 'Send alerts of a workspace to Slack, Discord, an e-mail address or a webhook',
  answer: { status: 201, body: integration },
  refusals: ['conflict'],
  params: { ws: 'ws' },
  body: createIntegrationBody,
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, { caller, body }) {
    const { workspaceId } = caller
    const { name, channel } = body
    const events = [...new Set(body.events)]
    const target = integrationTarget('url' in body ? { url: body.url } : { email: body.email })
    if (!target) throw new Error('The schema accepted an integration without a target.')
    const row = await inWorkspace(ctx.pool, workspaceId, async tx => {
      const added = { name, channel, events, ...target }
      const row = await insertIntegration(tx, ctx.config.masterKeys, workspaceId, added)
      if (!row) throw new AppError('conflict', `A workspace may have at most ${maxIntegrations} integrations.`)
      const details = { name, channel, events, target: row.shownTarget }
      await audit(tx, caller, { action: 'integration.created', objectId: toId('int', row.id), details })
      return row
    })
    if (!row) throw notFound()
    const presented = presentIntegration(row)
    return created(`/api/v1/workspaces/${presented.workspace_id}/integrations/${presented.id}`, presented)
  },
})
