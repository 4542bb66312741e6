import type { TierLimits } from '@belfry/domain'
import type { Context } from '../context.ts'

export type LimitContext = Pick<Context, 'config' | 'quotaStandings'>

/** What the tier of an organization allows; no bound for one that was deleted a moment ago, which others find out. */
export async function limitOf(ctx: LimitContext, organizationId: string, figure: keyof TierLimits): Promise<number> {
  const usage = await ctx.quotaStandings.of(organizationId)
  return usage === null ? Number.POSITIVE_INFINITY : ctx.config.tiers[usage.tier][figure]
}
