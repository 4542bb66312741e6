import { AppError, figureNames, type TierLimits } from '@belfry/domain'
import type { Context } from '../context.ts'

/**
 * Refuses one more of what a workspace may have only so many of. Creations at the same moment may pass the figure by as
 * many as they are.
 * @throws AppError `quota_exceeded`
 */
export async function refuseOverCount(
  ctx: Pick<Context, 'config' | 'quotaStandings'>,
  organizationId: string,
  figure: keyof Pick<TierLimits, 'cronJobs' | 'apiKeys' | 'secrets'>,
  count: () => Promise<number>,
): Promise<void> {
  const usage = await ctx.quotaStandings.of(organizationId)
  if (usage === null) return // deleted a moment ago, and whatever follows finds that out
  const limit = ctx.config.tiers[usage.tier][figure]
  if ((await count()) < limit) return
  const name = figureNames[figure].replace('_', ' ')
  const message = `The workspace has as many ${name} as its tier allows: ${limit}. Delete some, or choose a higher tier.`
  throw new AppError('quota_exceeded', message)
}
