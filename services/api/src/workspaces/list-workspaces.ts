import { listQuery, pageOf, workspace } from '@belfry/contract'
import type { OrganizationCaller } from '../auth/authorize.ts'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { presentWorkspace } from './present-workspace.ts'

export const listWorkspaces = endpoint({
  right: 'workspace.list',
  summary: 'List the workspaces of an organization; a member sees their own, an API key its own',
  answer: { status: 200, body: pageOf(workspace) },
  params: { org: 'org' },
  query: listQuery,
  async handle(ctx, { caller, query }) {
    const { organizationId } = caller
    const list = `workspaces:${organizationId}`
    const after = readCursor(list, query)
    const rows = await ctx.prisma.workspace.findMany({
      where: {
        organizationId,
        deletedAt: null,
        ...visibleTo(caller),
        ...(after === undefined ? {} : { id: { lt: after } }),
      },
      orderBy: { id: 'desc' },
      take: query.limit + 1,
    })
    return ok(toPage(list, query, rows, presentWorkspace))
  },
})

function visibleTo({ actor, user, apiKeyId }: OrganizationCaller) {
  if (apiKeyId !== null) return { apiKeys: { some: { id: apiKeyId } } }
  const isMember = actor.kind === 'user' && actor.role === 'member'
  return isMember && user ? { members: { some: { userId: user.userId } } } : {}
}
