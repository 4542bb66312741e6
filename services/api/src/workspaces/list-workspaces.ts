import { listQuery, pageOf, workspace } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { presentWorkspace } from './present-workspace.ts'

export const listWorkspaces = endpoint({
  right: 'workspace.list',
  summary: 'List the workspaces of an organization; members see those that they belong to',
  answer: { status: 200, body: pageOf(workspace) },
  params: { org: 'org' },
  query: listQuery,
  async handle(ctx, { caller: { organizationId, user, actor }, query }) {
    const list = `workspaces:${organizationId}`
    const after = readCursor(list, query)
    const isMember = actor.kind === 'user' && actor.role === 'member'
    const rows = await ctx.prisma.workspace.findMany({
      where: {
        organizationId,
        deletedAt: null,
        ...(isMember ? { members: { some: { userId: user.userId } } } : {}),
        ...(after === undefined ? {} : { id: { lt: after } }),
      },
      orderBy: { id: 'desc' },
      take: query.limit + 1,
    })
    return ok(toPage(list, query, rows, presentWorkspace))
  },
})
