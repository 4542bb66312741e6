import type { OrganizationSubscription } from '@belfry/contract'
import { billingPeriod, figureNames, type TierLimits, type TierName } from '@belfry/domain'
import type { Context } from '../context.ts'

/** The public form of what an organization pays for. */
export function presentSubscription(ctx: Context, tier: TierName): OrganizationSubscription {
  const limits = Object.entries(ctx.config.tiers[tier]).map(([figure, value]) => [
    figureNames[figure as keyof TierLimits], // its own keys
    value,
  ])
  return {
    tier,
    limits: Object.fromEntries(limits) as OrganizationSubscription['limits'], // each figure by its public name
    period: presentPeriod(new Date(ctx.clock.now())),
  }
}

/** The month that an instant lies in, as the interface tells it. */
export function presentPeriod(at: Date): OrganizationSubscription['period'] {
  const { start, end } = billingPeriod(at)
  return { start: start.toISOString(), end: end.toISOString() }
}
