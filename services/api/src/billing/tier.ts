import { operations } from '@belfry/contract/operations'
import { readBillingAccount } from '@belfry/db/billing/billing-accounts'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import type { TierName } from '@belfry/domain/tiers'
import type { CallerOf } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { applyTier } from './apply-tier.ts'
import { readSubscription } from './present-subscription.ts'
import { chooseTier } from './stripe/choose-tier.ts'
import { callingStripe } from './stripe/stripe-billing.ts'

export const getTier = endpoint(operations.getTier, async (ctx, { caller }) =>
  readSubscription(ctx, caller.organizationId),
)

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
  requireTierChanges(ctx)
  await inTransaction(ctx.pool, tx => applyTier(ctx, tx, caller.organizationId, tier, by))
  return null
}

function requireTierChanges({ config }: Context): void {
  if (config.tierChanges === 'operator')
    throw new AppError('forbidden', 'The operator of this installation sets tiers.')
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
