import { operations } from '@belfry/contract/operations'
import type { OrganizationSubscription } from '@belfry/contract/tier'
import { type BillingAccount, readBillingAccount } from '@belfry/db/billing/billing-accounts'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { readUsage } from '@belfry/db/usage/read-usage'
import { AppError, notFound } from '@belfry/domain/app-error'
import { billingPeriod } from '@belfry/domain/quota'
import { figureNames, presentLimit, type TierLimits, type TierName, tierNames } from '@belfry/domain/tiers'
import type { CallerOf } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { applyTier } from './apply-tier.ts'
import { chooseTier } from './stripe/choose-tier.ts'
import { callingStripe } from './stripe/stripe-billing.ts'
import { isMissingPayment } from './stripe/subscription-state.ts'

export const getTier = endpoint(operations.getTier, (ctx, { caller }) => readSubscription(ctx, caller.organizationId))

export const changeTier = endpoint(operations.changeTier, async (ctx, { caller, body }) => {
  const checkoutUrl = await change(ctx, caller, body.tier)
  ctx.usageCache.delete(caller.organizationId)
  const subscription = await readSubscription(ctx, caller.organizationId)
  return checkoutUrl === null ? subscription : { ...subscription, checkout_url: checkoutUrl }
})

// Returns where the tier has to be paid first; null when there is nothing to pay.
async function change(ctx: Context, caller: CallerOf<'billing.change'>, tier: TierName): Promise<string | null> {
  const { stripe } = ctx
  const by = { userId: caller.user.userId, apiKeyId: caller.apiKeyId, address: caller.address }
  if (stripe) return callingStripe(ctx, () => chooseTier(ctx, stripe, caller.organizationId, by, tier))
  if (ctx.config.tierChanges === 'operator') {
    throw new AppError('forbidden', 'The operator of this installation sets tiers.')
  }
  await inTransaction(ctx.pool, tx => applyTier(ctx, tx, caller.organizationId, tier, by))
  return null
}

export const openPortal = endpoint(operations.openPortal, async (ctx, { caller: { organizationId } }) => {
  const { stripe } = ctx.stripe ?? {}
  if (!stripe) throw new AppError('conflict', 'This installation has no payment provider: choose a tier instead.')
  const { slug } = await ctx.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const account = await readBillingAccount(ctx.pool, organizationId)
  const customer = account?.customerId
  if (!customer) throw new AppError('conflict', 'The organization has never had a subscription.')
  const portal = { customer, return_url: `${ctx.config.publicUrl}/${slug}/settings/usage` }
  const session = await callingStripe(ctx, () => stripe.billingPortal.sessions.create(portal))
  return { url: session.url }
})

async function readSubscription(ctx: Context, organizationId: string): Promise<OrganizationSubscription> {
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

export function presentPeriod(at: Date): OrganizationSubscription['period'] {
  const { start, end } = billingPeriod(at)
  return { start: start.toISOString(), end: end.toISOString() }
}
