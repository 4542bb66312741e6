import { integration, updateIntegrationBody } from '@belfry/contract'
import { changeIntegration, findIntegration, inWorkspace } from '@belfry/db'
import { type AlertChannel, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { given, isEmpty } from '../http/given.ts'
import { invalid, notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { integrationTarget, presentIntegration, readIntegration } from './present-integration.ts'

export const updateIntegration = endpoint({
  right: 'integration.write',
  summary: 'Change the name, the events or the target of an integration',
  answer: { status: 200, body: integration },
  params: { ws: 'ws', int: 'int' },
  body: updateIntegrationBody,
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, { caller, params: { int: id }, body }) {
    const { workspaceId } = caller
    const target = integrationTarget(body)
    const events = body.events && [...new Set(body.events)]
    const change = given({ name: body.name, events, target: target ?? undefined })
    if (isEmpty(change)) return ok(await readIntegration(ctx, workspaceId, id))
    const row = await inWorkspace(ctx.pool, workspaceId, async tx => {
      const before = await findIntegration(tx, workspaceId, id)
      if (!before) return null
      requireChannelOf(before.channel, body)
      const row = await changeIntegration(tx, ctx.config.masterKeys, workspaceId, id, change)
      const details = given({ name: body.name, events, target: target?.shownTarget })
      await audit(tx, caller, { action: 'integration.changed', objectId: toId('int', id), details })
      return row
    })
    if (!row) throw notFound()
    return ok(presentIntegration(row))
  },
})

function requireChannelOf(channel: AlertChannel, body: { url?: unknown; email?: unknown }): void {
  const wrong = channel === 'email' ? 'url' : 'email'
  if (body[wrong] === undefined) return
  const message = `An integration of the channel ${channel} has no ${wrong}.`
  throw invalid('body', [{ path: wrong, code: 'wrong_channel', message }])
}
