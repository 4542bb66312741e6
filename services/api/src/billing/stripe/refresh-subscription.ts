import { type BillingAccount, storeBillingAccount } from '@belfry/db/billing/billing-accounts'
import type { TierChanger } from '@belfry/db/organizations/organizations'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import { paymentFailedMail } from '@belfry/messages'
import type { Stripe } from 'stripe'
import type { Context } from '../../context.ts'
import { applyTier, mailOwners } from '../apply-tier.ts'
import type { StripeBilling } from './stripe-billing.ts'
import { currentSubscription, grantedTier, isLive, readState } from './subscription-state.ts'

/**
 * Reads the subscription of a locked account from Stripe, stores its state and applies its tier if that has changed. The
 * lock makes repeated and reordered calls safe: the last call has read the latest state.
 */
export async function refreshSubscription(
  ctx: Context,
  { stripe, settings }: StripeBilling,
  tx: Transaction,
  account: BillingAccount & { customerId: string },
  by: TierChanger,
): Promise<{ account: BillingAccount & { customerId: string }; subscription: Stripe.Subscription | null }> {
  const { organizationId, customerId: customer } = account
  const list = await stripe.subscriptions.list({ customer, status: 'all', limit: 100, expand: ['data.schedule'] })
  const subscription = currentSubscription(list.data)
  const now = ctx.clock.now()
  const state = readState(subscription, settings, account, now)
  const after = { ...account, ...state, updatedAt: new Date(now) }
  await storeBillingAccount(tx, after)
  const { tier, graceUntil } = state
  if (subscription && tier === null) ctx.log.error({ subscription: subscription.id }, 'billing.price_unknown')
  if (account.graceUntil === null && graceUntil !== null && tier !== null) {
    await mailOwners(ctx, tx, organizationId, 'payment failed', (to, facts) =>
      paymentFailedMail(to, { ...facts, tier, graceUntil }),
    )
  }
  const granted = grantedTier(state, now)
  const why = granted === 'free' ? (state.status === 'canceled' ? 'ended' : 'unpaid') : undefined
  const hasEnded = isLive(account) && !isLive(after)
  const isNew = hasEnded || granted !== grantedTier(account, account.updatedAt.getTime())
  if (granted !== null && isNew) await applyTier(ctx, tx, organizationId, granted, by, why)
  return { account: after, subscription }
}
