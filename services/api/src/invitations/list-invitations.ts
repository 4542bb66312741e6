import { invitation, listQuery, pageOf } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { inviter, presentInvitation } from './present-invitation.ts'

export const listInvitations = endpoint({
  right: 'invitation.read',
  summary: 'List the invitations of an organization, including those that have ended',
  answer: { status: 200, body: pageOf(invitation) },
  params: { org: 'org' },
  query: listQuery,
  async handle(ctx, { caller: { organizationId }, query }) {
    const list = `invitations:${organizationId}`
    const after = readCursor(list, query)
    const rows = await ctx.prisma.invitation.findMany({
      where: { organizationId, ...(after === undefined ? {} : { id: { lt: after } }) },
      include: { inviter },
      orderBy: { id: 'desc' },
      take: query.limit + 1,
    })
    const now = ctx.clock.now()
    return ok(toPage(list, query, rows, row => presentInvitation(row, now)))
  },
})
