import { integration } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { readIntegration } from './present-integration.ts'

export const getIntegration = endpoint({
  right: 'integration.read',
  summary: 'Read an integration',
  answer: { status: 200, body: integration },
  params: { ws: 'ws', int: 'int' },
  async handle(ctx, { caller, params: { int: id } }) {
    return ok(await readIntegration(ctx, caller.workspaceId, id))
  },
})
