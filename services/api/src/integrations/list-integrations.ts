import { integration, pageOf } from '@belfry/contract'
import { listIntegrations as readIntegrations } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { presentIntegration } from './present-integration.ts'

/** Returns all integrations as one page: a workspace has few of them. */
export const listIntegrations = endpoint({
  right: 'integration.read',
  summary: 'List the integrations of a workspace',
  answer: { status: 200, body: pageOf(integration) },
  params: { ws: 'ws' },
  async handle(ctx, { caller }) {
    const rows = await readIntegrations(ctx.pool, caller.workspaceId)
    return ok({ data: rows.map(presentIntegration), next_cursor: null })
  },
})
