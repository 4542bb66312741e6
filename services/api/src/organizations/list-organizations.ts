import { listQuery, organization, pageOf } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { presentOrganization } from './present-organization.ts'

export const listOrganizations = endpoint({
  right: 'signed_in',
  summary: 'List the organizations of the signed-in user',
  answer: { status: 200, body: pageOf(organization) },
  query: listQuery,
  async handle(ctx, { caller, query }) {
    const list = `organizations:${caller.userId}`
    const after = readCursor(list, query)
    const rows = await ctx.prisma.organization.findMany({
      where: {
        memberships: { some: { userId: caller.userId } },
        ...(after === undefined ? {} : { id: { lt: after } }),
      },
      orderBy: { id: 'desc' },
      take: query.limit + 1,
    })
    return ok(toPage(list, query, rows, presentOrganization))
  },
})
