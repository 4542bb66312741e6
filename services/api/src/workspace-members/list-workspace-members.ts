import { listQuery, pageOf, workspaceMember } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { memberUser, presentWorkspaceMember } from '../members/present-member.ts'

export const listWorkspaceMembers = endpoint({
  right: 'workspace_member.read',
  summary: 'List the members of a workspace; owners and admins need not be among them',
  answer: { status: 200, body: pageOf(workspaceMember) },
  params: { ws: 'ws' },
  query: listQuery,
  async handle(ctx, { caller: { workspaceId }, query }) {
    const list = `workspace-members:${workspaceId}`
    const after = readCursor(list, query)
    const rows = await ctx.prisma.workspaceMember.findMany({
      where: { workspaceId, ...(after === undefined ? {} : { userId: { lt: after } }) },
      include: { user: memberUser },
      orderBy: { userId: 'desc' },
      take: query.limit + 1,
    })
    const withIds = rows.map(row => ({ id: row.userId, ...row }))
    return ok(toPage(list, query, withIds, presentWorkspaceMember))
  },
})
