import { apiKey } from '@belfry/contract/api-key'
import { listQuery, pageOf } from '@belfry/contract/page'
import { toId } from '@belfry/domain/id'
import { audit } from '../audit/audit.ts'
import { forgetApiKeys } from '../auth/api-key-caches.ts'
import { endpoint } from '../endpoint.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { notFound } from '../http/refusals.ts'
import { noContent, ok } from '../http/reply.ts'
import { presentApiKey } from './present-api-key.ts'

export const listApiKeys = endpoint({
  right: 'api_key.read',
  summary: 'List the API keys of a workspace, including revoked ones',
  answer: { status: 200, body: pageOf(apiKey) },
  params: { ws: 'ws' },
  query: listQuery,
  async handle(ctx, { caller: { workspaceId }, query }) {
    const find = ({ before, take }: PageRows) =>
      ctx.prisma.apiKey.findMany({ where: { workspaceId, id: before }, orderBy: { id: 'desc' }, take })
    return ok(await readPage(`api-keys:${workspaceId}`, query, find, presentApiKey))
  },
})

// Other processes may have the key in their caches for five seconds more.
export const revokeApiKey = endpoint({
  right: 'api_key.revoke',
  summary: 'Revoke an API key, everywhere within five seconds',
  answer: { status: 204 },
  params: { ws: 'ws', key: 'key' },
  async handle(ctx, { caller, params: { key: id } }) {
    const { workspaceId } = caller
    await ctx.prisma.$transaction(async tx => {
      const row = await tx.apiKey.findFirst({ where: { id, workspaceId }, select: { name: true, prefix: true } })
      if (!row) throw notFound()
      const revokedAt = new Date(ctx.clock.now())
      const { count } = await tx.apiKey.updateMany({ where: { id, workspaceId, revokedAt: null }, data: { revokedAt } })
      if (count > 0) await audit(tx, caller, { action: 'api_key.revoked', objectId: toId('key', id), details: row })
    })
    forgetApiKeys(ctx.apiKeys, key => key.keyId === id)
    return noContent()
  },
})
