import { apiKey, listQuery, pageOf } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { presentApiKey } from './present-api-key.ts'

export const listApiKeys = endpoint({
  right: 'api_key.read',
  summary: 'List the API keys of a workspace, including revoked ones',
  answer: { status: 200, body: pageOf(apiKey) },
  params: { ws: 'ws' },
  query: listQuery,
  async handle(ctx, { caller: { workspaceId }, query }) {
    const list = `api-keys:${workspaceId}`
    const after = readCursor(list, query)
    const rows = await ctx.prisma.apiKey.findMany({
      where: { workspaceId, ...(after === undefined ? {} : { id: { lt: after } }) },
      orderBy: { id: 'desc' },
      take: query.limit + 1,
    })
    return ok(toPage(list, query, rows, presentApiKey))
  },
})
