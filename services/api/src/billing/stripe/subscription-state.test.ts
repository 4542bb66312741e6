import type { BillingState } from '@belfry/db/billing/billing-accounts'
import type { Stripe } from 'stripe'
import { describe, expect, it } from 'vitest'
import { parsePrices } from './prices.ts'
import { currentSubscription, grantedTier, readState } from './subscription-state.ts'

const now = Date.UTC(2026, 10, 1)
const day = 24 * 3_600_000
const settings = { prices: parsePrices('{"startup":"price_1","scaleup":"price_2"}'), graceMs: 7 * day }
const first: Pick<BillingState, 'subscriptionId' | 'graceUntil'> = { subscriptionId: null, graceUntil: null }

const aSubscription = (status: string, changes: object = {}) =>
  ({
    id: 'sub_1',
    status,
    created: 1,
    cancel_at: null,
    cancel_at_period_end: false,
    schedule: null,
    items: { data: [{ id: 'si_1', price: { id: 'price_2' }, current_period_end: now / 1000 + 10 * 86_400 }] },
    ...changes,
  }) as unknown as Stripe.Subscription // as much of it as is read

const tierAt = (status: string, at: number, before = first) =>
  grantedTier(readState(aSubscription(status), settings, before, at), at)

describe('a subscription', () => {
  it.each([
    ['active', 'scaleup'],
    ['trialing', 'scaleup'],
    ['past_due', 'scaleup'],
    ['canceled', 'free'],
    ['paused', 'free'],
  ])('that is %s gives the tier %s', (status, tier) => {
    expect(tierAt(status, now)).toBe(tier)
  })

  it('gives its tier for the grace period only, counted from the first failure', () => {
    const failed = readState(aSubscription('past_due'), settings, first, now)
    expect(failed.graceUntil).toEqual(new Date(now + 7 * day))
    expect(tierAt('unpaid', now + 6 * day, failed)).toBe('scaleup')
    expect(tierAt('unpaid', now + 7 * day, failed)).toBe('free')
    expect(readState(aSubscription('active'), settings, failed, now).graceUntil).toBeNull()
  })

  it('at a price that is not configured changes no tier', () => {
    const item = { price: { id: 'price_9' }, current_period_end: 0 }
    const state = readState(aSubscription('active', { items: { data: [item] } }), settings, first, now)
    expect(grantedTier(state, now)).toBeNull()
  })

  it('that was cancelled for the end of its period has that end', () => {
    const state = readState(aSubscription('active', { cancel_at_period_end: true }), settings, first, now)
    expect(state).toMatchObject({ nextTier: 'free', nextTierAt: new Date(now + 10 * day) })
  })
})

it('of several subscriptions the paid subscription counts, and one without a first payment does not', () => {
  const ended = aSubscription('canceled', { id: 'sub_2', created: 9 })
  expect(currentSubscription([ended, aSubscription('active')])?.id).toBe('sub_1')
  expect(currentSubscription([aSubscription('incomplete'), ended])?.id).toBe('sub_2')
  expect(currentSubscription([aSubscription('incomplete')])).toBeNull()
})
