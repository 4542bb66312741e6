import { integration } from '@belfry/contract'
import { findIntegration } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { ok } from '../http/reply.ts'
import { presentIntegration } from './present-integration.ts'

export const getIntegration = endpoint({
  right: 'integration.read',
  summary: 'Read an integration',
  answer: { status: 200, body: integration },
  params: { ws: 'ws', int: 'int' },
  async handle(ctx, { caller, params: { int: id } }) {
    const row = await findIntegration(ctx.pool, caller.workspaceId, id)
    if (!row) throw notFound()
    return ok(presentIntegration(row))
  },
})
