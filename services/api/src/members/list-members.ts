import { listQuery, member, pageOf } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { memberUser, presentMember } from './present-member.ts'

export const listMembers = endpoint({
  right: 'member.read',
  summary: 'List the members of an organization',
  answer: { status: 200, body: pageOf(member) },
  params: { org: 'org' },
  query: listQuery,
  async handle(ctx, { caller: { organizationId }, query }) {
    const list = `members:${organizationId}`
    const after = readCursor(list, query)
    const rows = await ctx.prisma.membership.findMany({
      where: { organizationId, ...(after === undefined ? {} : { userId: { lt: after } }) },
      include: { user: memberUser },
      orderBy: { userId: 'desc' },
      take: query.limit + 1,
    })
    const withIds = rows.map(row => ({ id: row.userId, ...row }))
    return ok(toPage(list, query, withIds, presentMember))
  },
})
