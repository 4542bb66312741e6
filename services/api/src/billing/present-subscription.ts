import type { OrganizationSubscription } from '@belfry/contract/tier'
import { type BillingAccount, readBillingAccount } from '@belfry/db/billing/billing-accounts'
import { readUsage } from '@belfry/db/usage/read-usage'
import { billingPeriod } from '@belfry/domain/quota'
import { figureNames, presentLimit, type TierLimits, type TierName, tierNames } from '@belfry/domain/tiers'
import type { Context } from '../context.ts'
import { notFound } from '../http/refusals.ts'
import { isMissingPayment } from './stripe/subscription-state.ts'

/** Reads the subscription of an organization and the limits of its tier, in the public form. */
export async function readSubscription(ctx: Context, organizationId: string): Promise<OrganizationSubscription> {
  const [usage, account] = await Promise.all([
    readUsage(ctx.pool, organizationId),
    readBillingAccount(ctx.pool, organizationId),
  ])
  if (!usage) throw notFound()
  const limits = Object.entries(ctx.config.tiers[usage.tier]).map(([figure, value]) => [
    figureNames[figure as keyof TierLimits], // its own keys
    presentLimit(value),
  ])
  return {
    tier: usage.tier,
    limits: Object.fromEntries(limits) as OrganizationSubscription['limits'], // each figure by its public name
    period: presentPeriod(new Date(ctx.clock.now())),
    available_tiers: availableTiers(ctx),
    billing: presentBilling(ctx, account),
  }
}

function availableTiers({ stripe, config }: Context): TierName[] {
  if (stripe) return ['free', ...stripe.settings.prices.priceOf.keys()]
  return config.tierChanges === 'owner' ? [...tierNames] : []
}

function presentBilling({ stripe }: Context, account: BillingAccount | null): OrganizationSubscription['billing'] {
  const { nextTier = null, nextTierAt = null } = account ?? {}
  return {
    provider: stripe ? 'stripe' : 'manual',
    status: statusOf(account?.status ?? null),
    period_end: account?.periodEnd?.toISOString() ?? null,
    grace_until: account?.graceUntil?.toISOString() ?? null,
    next_tier: nextTier && nextTierAt && { tier: nextTier, at: nextTierAt.toISOString() },
  }
}

function statusOf(status: string | null): OrganizationSubscription['billing']['status'] {
  if (status === null) return 'none'
  if (status === 'active' || status === 'trialing') return 'active'
  return isMissingPayment(status) ? 'payment_failed' : 'canceled'
}

/** Returns the public form of the month that a time is in. */
export function presentPeriod(at: Date): OrganizationSubscription['period'] {
  const { start, end } = billingPeriod(at)
  return { start: start.toISOString(), end: end.toISOString() }
}
