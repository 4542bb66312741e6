import type { BillingState } from '@belfry/db/billing/billing-accounts'
import type { TierName } from '@belfry/domain/tiers'
import type { Stripe } from 'stripe'
import type { Prices } from './prices.ts'

// The subscription with the first of these states counts. `incomplete` was never paid, so it does not count yet.
const ranks = ['active', 'trialing', 'past_due', 'unpaid', 'paused', 'canceled']

/** Returns the subscription that decides about the tier, of all that a customer ever had. */
export function currentSubscription(all: readonly Stripe.Subscription[]): Stripe.Subscription | null {
  const known = all.filter(({ status }) => ranks.includes(status))
  const [current] = known.sort((a, b) => ranks.indexOf(a.status) - ranks.indexOf(b.status) || b.created - a.created)
  return current ?? null
}

/** Returns the state that Belfry stores of a subscription. A grace period begins when a payment is first missing. */
export function readState(
  subscription: Stripe.Subscription | null,
  { prices, graceMs }: { prices: Prices; graceMs: number },
  before: Pick<BillingState, 'subscriptionId' | 'graceUntil'>,
  now: number,
): BillingState {
  const [item] = subscription?.items.data ?? []
  if (!subscription || !item) return noSubscription
  const isSame = before.subscriptionId === subscription.id
  const graceUntil = (isSame && before.graceUntil) || new Date(now + graceMs)
  return {
    subscriptionId: subscription.id,
    status: subscription.status,
    tier: prices.tierOf.get(item.price.id) ?? null,
    periodEnd: new Date(item.current_period_end * 1000),
    ...plannedChange(subscription, item.current_period_end, prices),
    graceUntil: isMissingPayment(subscription.status) ? graceUntil : null,
  }
}

/** Returns the tier that a subscription grants now; null when it does not decide about the tier. */
export function grantedTier({ status, tier, graceUntil }: BillingState, now: number): TierName | null {
  if (status === null) return null
  if (status === 'active' || status === 'trialing') return tier
  if (isMissingPayment(status) && graceUntil && graceUntil.getTime() > now) return tier
  return 'free'
}

/** Returns whether a subscription is in force, paid or not. */
export function isLive({ status }: Pick<BillingState, 'status'>): boolean {
  return status === 'active' || status === 'trialing' || isMissingPayment(status)
}

/** Returns whether a subscription is in force although its last payment failed. */
export function isMissingPayment(status: string | null): boolean {
  return status === 'past_due' || status === 'unpaid'
}

const noSubscription: BillingState = {
  subscriptionId: null,
  status: null,
  tier: null,
  periodEnd: null,
  nextTier: null,
  nextTierAt: null,
  graceUntil: null,
}

function plannedChange(
  { status, cancel_at_period_end, cancel_at, schedule }: Stripe.Subscription,
  periodEnd: number,
  prices: Prices,
): Pick<BillingState, 'nextTier' | 'nextTierAt'> {
  if (status === 'canceled') return { nextTier: null, nextTierAt: null }
  const endsAt = cancel_at ?? (cancel_at_period_end ? periodEnd : null)
  if (endsAt !== null) return { nextTier: 'free', nextTierAt: new Date(endsAt * 1000) }
  const phases = schedule && typeof schedule !== 'string' ? schedule.phases : []
  const next = phases.find(phase => phase.start_date >= periodEnd)
  const price = next?.items[0]?.price
  const nextTier = price ? prices.tierOf.get(typeof price === 'string' ? price : price.id) : undefined
  if (!next || !nextTier) return { nextTier: null, nextTierAt: null }
  return { nextTier, nextTierAt: new Date(next.start_date * 1000) }
}
