import { changeTierBody, organizationSubscription } from '@belfry/contract/tier'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import type { TierName } from '@belfry/domain/tiers'
import type { OrganizationCaller } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { applyTier } from './apply-tier.ts'
import { readSubscription } from './present-subscription.ts'
import { chooseTier } from './stripe/choose-tier.ts'
import { callingStripe } from './stripe/stripe-billing.ts'

export const changeTier = endpoint({
  right: 'billing.change',
  summary: 'Choose the tier of an organization',
  answer: { status: 200, body: organizationSubscription },
  refusals: ['conflict', 'unavailable'],
  params: { org: 'org' },
  body: changeTierBody,
  async handle(ctx, { caller, body }) {
    const checkoutUrl = await change(ctx, caller, body.tier)
    ctx.usageCache.delete(caller.organizationId)
    const subscription = await readSubscription(ctx, caller.organizationId)
    return ok(checkoutUrl === null ? subscription : { ...subscription, checkout_url: checkoutUrl })
  },
})

// Returns where the tier has to be paid first; null when there is nothing to pay.
async function change(ctx: Context, caller: OrganizationCaller, tier: TierName): Promise<string | null> {
  const { stripe } = ctx
  const by = { userId: caller.user?.userId ?? null, apiKeyId: caller.apiKeyId, address: caller.address }
  if (stripe) return callingStripe(ctx, () => chooseTier(ctx, stripe, caller.organizationId, by, tier))
  requireTierChanges(ctx)
  await inTransaction(ctx.pool, tx => applyTier(ctx, tx, caller.organizationId, tier, by))
  return null
}

function requireTierChanges({ config }: Context): void {
  if (config.tierChanges === 'operator')
    throw new AppError('forbidden', 'The operator of this installation sets tiers.')
}
