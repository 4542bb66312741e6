import type { TierName } from '@belfry/domain'
import type { Context } from '../context.ts'

/** Puts an organization on a tier, from the next claim on. Nothing that a lower tier has no room for is taken away. */
export async function applyTier(ctx: Context, organizationId: string, tier: TierName): Promise<void> {
  await ctx.prisma.organization.update({ where: { id: organizationId }, data: { tier } })
  ctx.quotaStandings.forget(organizationId)
}
