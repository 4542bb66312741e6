import { type BillingAccount, lockBillingAccount, storeBillingAccount } from '@belfry/db/billing/billing-accounts'
import { findOwners, type TierChanger } from '@belfry/db/organizations/organizations'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { AppError, invalidField, notFound } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { type TierName, tierNames } from '@belfry/domain/tiers'
import type { Stripe } from 'stripe'
import type { Context } from '../../context.ts'
import { applyTier } from '../apply-tier.ts'
import { refreshSubscription } from './refresh-subscription.ts'
import type { StripeBilling } from './stripe-billing.ts'
import { isLive, isMissingPayment } from './subscription-state.ts'

type Customer = BillingAccount & { customerId: string }

/**
 * Changes an organization to the tier that its owner chose. A first subscription begins with a checkout, a higher tier is
 * charged and applies at once, and a lower one applies at the end of the period that is paid for.
 * @returns The page on which the owner pays for the tier first; null when there is nothing to pay.
 */
export async function chooseTier(
  ctx: Context,
  billing: StripeBilling,
  organizationId: string,
  by: TierChanger,
  tier: TierName,
): Promise<string | null> {
  return inTransaction(ctx.pool, async tx => {
    const locked = await withCustomer(billing, tx, await lockBillingAccount(tx, organizationId))
    const { account, subscription } = await refreshSubscription(ctx, billing, tx, locked, by)
    if (!subscription || !isLive(account)) {
      if (tier !== 'free') return beginCheckout(ctx, billing, tx, account, tier)
      await applyTier(ctx, tx, organizationId, tier, by)
      return null
    }
    const payAt = await changeSubscription(billing, subscription, account.tier, tier)
    await refreshSubscription(ctx, billing, tx, account, by)
    return payAt
  })
}

async function withCustomer({ stripe }: StripeBilling, tx: Transaction, account: BillingAccount): Promise<Customer> {
  const { organizationId, customerId } = account
  if (customerId !== null) return { ...account, customerId }
  const organization = await findOwners(tx, organizationId)
  const id = toId('org', organizationId)
  const [email] = organization?.owners ?? []
  const { id: created } = await stripe.customers.create(
    { name: organization?.name ?? id, ...(email && { email }), metadata: { organization_id: id } },
    { idempotencyKey: `customer-${id}` },
  )
  const after = { ...account, customerId: created }
  await storeBillingAccount(tx, after)
  return after
}

async function beginCheckout(
  ctx: Context,
  { stripe, settings }: StripeBilling,
  tx: Transaction,
  account: Customer,
  tier: TierName,
): Promise<string> {
  const price = priceOf(settings, tier)
  const organization = await findOwners(tx, account.organizationId)
  if (!organization) throw notFound() // just deleted
  // Only one checkout may be paid: two would make two subscriptions.
  if (account.checkoutId !== null) await expire(stripe, account.checkoutId)
  const organizationId = toId('org', account.organizationId)
  const page = `${ctx.config.publicUrl}/${organization.slug}/settings/usage`
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: account.customerId,
    client_reference_id: organizationId,
    line_items: [{ price, quantity: 1 }],
    subscription_data: { metadata: { organization_id: organizationId } },
    success_url: `${page}?checkout=done`,
    cancel_url: page,
  })
  if (!session.url) throw new Error('Stripe returned a checkout without a URL.')
  await storeBillingAccount(tx, { ...account, checkoutId: session.id })
  return session.url
}

/**
 * Ends the open checkout of an organization that is to be deleted, and reads its subscription: the checkout may be paid,
 * and the event of Stripe late.
 */
export async function endCheckout(ctx: Context, billing: StripeBilling, organizationId: string, by: TierChanger) {
  await inTransaction(ctx.pool, async tx => {
    const { customerId, checkoutId, ...account } = await lockBillingAccount(tx, organizationId)
    if (customerId === null) return
    if (checkoutId !== null) await expire(billing.stripe, checkoutId)
    await refreshSubscription(ctx, billing, tx, { ...account, customerId, checkoutId: null }, by)
  })
}

async function expire(stripe: Stripe, checkoutId: string): Promise<void> {
  const { status } = await stripe.checkout.sessions.retrieve(checkoutId)
  if (status === 'open') await stripe.checkout.sessions.expire(checkoutId)
}

/** Returns the page of a payment that is still due, or null. */
async function changeSubscription(
  { stripe, settings }: StripeBilling,
  subscription: Stripe.Subscription,
  from: TierName | null,
  to: TierName,
): Promise<string | null> {
  const { id } = subscription
  if (isMissingPayment(subscription.status)) {
    if (to !== 'free') return invoiceUrl(stripe, subscription)
    await stripe.subscriptions.cancel(id)
    return null
  }
  await dropPlannedChange(stripe, subscription)
  if (to === from) return null
  if (to === 'free') {
    await stripe.subscriptions.update(id, { cancel_at_period_end: true })
    return null
  }
  const price = priceOf(settings, to)
  if (from === null || tierNames.indexOf(to) > tierNames.indexOf(from)) return upgrade(stripe, subscription, price)
  await downgradeAtPeriodEnd(stripe, subscription, price)
  return null
}

async function dropPlannedChange(stripe: Stripe, { id, schedule, cancel_at_period_end }: Stripe.Subscription) {
  if (schedule) await stripe.subscriptionSchedules.release(typeof schedule === 'string' ? schedule : schedule.id)
  if (cancel_at_period_end) await stripe.subscriptions.update(id, { cancel_at_period_end: false })
}

// The price changes only once the difference is paid.
async function upgrade(stripe: Stripe, subscription: Stripe.Subscription, price: string): Promise<string | null> {
  const updated = await stripe.subscriptions.update(subscription.id, {
    items: [{ id: subscription.items.data[0]?.id ?? '', price }],
    payment_behavior: 'pending_if_incomplete',
    proration_behavior: 'always_invoice',
  })
  return updated.pending_update ? invoiceUrl(stripe, updated) : null
}

async function downgradeAtPeriodEnd(stripe: Stripe, subscription: Stripe.Subscription, price: string): Promise<void> {
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id })
  const [item] = subscription.items.data
  const [phase] = schedule.phases
  if (!item || !phase) throw new Error('Stripe returned a schedule without a phase.')
  const { interval = 'month', interval_count = 1 } = item.price.recurring ?? {}
  await stripe.subscriptionSchedules.update(schedule.id, {
    end_behavior: 'release',
    proration_behavior: 'none',
    phases: [
      { items: [{ price: item.price.id, quantity: 1 }], start_date: phase.start_date, end_date: phase.end_date },
      { items: [{ price, quantity: 1 }], duration: { interval, interval_count } },
    ],
  })
}

async function invoiceUrl(stripe: Stripe, { latest_invoice }: Stripe.Subscription): Promise<string> {
  const id = typeof latest_invoice === 'string' ? latest_invoice : latest_invoice?.id
  const invoice = id ? await stripe.invoices.retrieve(id) : null
  if (!invoice?.hosted_invoice_url)
    throw new AppError('conflict', 'Pay the open invoice first: see the billing portal.')
  return invoice.hosted_invoice_url
}

function priceOf({ prices }: StripeBilling['settings'], tier: TierName): string {
  const price = prices.priceOf.get(tier)
  if (price !== undefined) return price
  const message = `tier must be for sale: free, ${[...prices.priceOf.keys()].join(', ')}.`
  throw invalidField('tier', 'not_for_sale', message)
}
