import { lockBillingAccountOf, recordBillingEvent } from '@belfry/db/billing/billing-accounts'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import type { Stripe } from 'stripe'
import type { Context } from '../../context.ts'
import { refreshSubscription } from './refresh-subscription.ts'
import type { StripeBilling } from './stripe-billing.ts'

/**
 * Handles an event once. An event only means that something changed for a customer. Its subscription is read from Stripe,
 * so events may come late and in any order.
 * @returns The organization of the event; null when there is none, or when the event was handled before.
 */
export async function receiveEvent(
  ctx: Context,
  billing: StripeBilling,
  tx: Transaction,
  event: Stripe.Event,
  address: string,
): Promise<string | null> {
  const customerId = customerOf(event)
  const account = customerId && (await lockBillingAccountOf(tx, customerId))
  if (!customerId || !account) {
    ctx.log.info({ event: event.id, type: event.type }, 'billing.event_ignored')
    return null
  }
  if (!(await recordBillingEvent(tx, event.id))) return null
  const by = { userId: null, apiKeyId: null, address, details: { by: 'billing', event: event.id } }
  await refreshSubscription(ctx, billing, tx, { ...account, customerId }, by)
  ctx.log.info({ event: event.id, type: event.type }, 'billing.event_handled')
  return account.organizationId
}

function customerOf({ data: { object } }: Stripe.Event): string | null {
  const customer: unknown = 'customer' in object ? object.customer : null
  if (typeof customer === 'string') return customer
  return typeof customer === 'object' && customer !== null && 'id' in customer ? String(customer.id) : null
}
