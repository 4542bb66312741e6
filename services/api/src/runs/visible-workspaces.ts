import { decide } from '@belfry/domain/permissions'
import type { CallerOf } from '../auth/authorize.ts'
import type { Context } from '../context.ts'

/**
 * Returns the workspaces of an organization whose runs the caller may read, newest first.
 * @param among - Restricts the result to these. Workspaces that are invisible or do not exist are ignored.
 */
export async function visibleWorkspaces(
  ctx: Context,
  { organizationId, actor, user }: CallerOf<'organization_run.read'>,
  among: readonly string[] | undefined,
): Promise<string[]> {
  const seesAll = decide(actor, 'run.read').allowed
  const rows = await ctx.prisma.workspace.findMany({
    where: {
      organizationId,
      deletedAt: null,
      ...(among ? { id: { in: [...among] } } : {}),
      ...(seesAll ? {} : { members: { some: { userId: user.userId } } }),
    },
    select: { id: true },
    orderBy: { id: 'desc' },
  })
  return rows.map(({ id }) => id)
}
