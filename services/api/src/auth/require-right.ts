import { type Action, AppError, mayDo } from '@belfry/domain'
import type { Context } from '../context.ts'
import { notFound } from '../http/not-found.ts'

/**
 * Checks that a user may do something in an organization. To somebody outside it does not exist.
 * @throws AppError `not_found` or `forbidden`.
 */
export async function requireRight(
  ctx: Context,
  userId: string,
  organization: { id: string } | { workspaces: { some: { id: string } } },
  action: Action,
): Promise<void> {
  const membership = await ctx.prisma.membership.findFirst({
    where: { userId, organization },
    select: { role: true, organization: true },
  })
  if (!membership) throw notFound()
  const decision = mayDo(membership.role, membership.organization, action)
  if (!decision.allowed) throw new AppError('forbidden', decision.reason)
}
