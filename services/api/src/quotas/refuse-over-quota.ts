import { AppError, exhaustedQuotas } from '@belfry/domain'
import type { Context } from '../context.ts'

/**
 * Refuses a creation that the organization's quotas leave no room for: over its storage anything that is stored, and for
 * what starts `at_once` also a month without executions left. What starts `later` may still see another month or tier.
 * @throws AppError `quota_exceeded`
 */
export async function refuseOverQuota(
  ctx: Pick<Context, 'config' | 'quotaStandings'>,
  organizationId: string,
  starts: 'at_once' | 'later',
): Promise<void> {
  const usage = await ctx.quotaStandings.of(organizationId)
  if (usage === null) return // deleted a moment ago, and whatever follows finds that out
  const limits = ctx.config.tiers[usage.tier]
  const exhausted = exhaustedQuotas({
    executions: { used: usage.executions, limit: limits.executions },
    storageBytes: { used: usage.storageBytes, limit: limits.storageBytes },
  })
  if (exhausted.includes('storage')) {
    const message = `The organization stores more than the ${limits.storageBytes} bytes of its tier. Choose a higher tier, or wait until older runs expire.`
    throw new AppError('quota_exceeded', message)
  }
  if (starts === 'at_once' && exhausted.includes('executions')) {
    const message = `The organization has used the ${limits.executions} executions of its tier for this month. Choose a higher tier, or wait for the next month.`
    throw new AppError('quota_exceeded', message)
  }
}
