import { lockBillingAccountOf, recordBillingEvent } from '@belfry/db/billing/billing-accounts'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import type { RequestHandler } from 'express'
import type { Stripe } from 'stripe'
import { callerAddress } from '../../auth/caller-address.ts'
import type { Context } from '../../context.ts'
import { readBytes } from '../../http/read-body.ts'
import { sendResponse } from '../../http/response.ts'
import { refreshSubscription } from './refresh-subscription.ts'
import { callingStripe, type StripeBilling } from './stripe-billing.ts'

// An event holds one object of Stripe, whose lists are short.
const maxBytes = 1024 * 1024

/** Receives the events of Stripe. Stripe sends an event again whose response is an error. */
export function receiveWebhooks(ctx: Context, billing: StripeBilling): RequestHandler {
  return async (request, response) => {
    const body = await readBytes(request, response, maxBytes)
    const event = verify(billing, body, String(request.headers['stripe-signature'] ?? ''))
    const organizationId = await callingStripe(ctx, () =>
      inTransaction(ctx.pool, tx => receiveEvent(ctx, billing, tx, event, callerAddress(request))),
    )
    if (organizationId !== null) ctx.usageCache.delete(organizationId)
    await sendResponse(response, { status: 200, body: { received: true } })
  }
}

function verify({ stripe, settings }: StripeBilling, body: Buffer, signature: string): Stripe.Event {
  try {
    return stripe.webhooks.constructEvent(body, signature, settings.webhookSecret)
  } catch (cause) {
    throw new AppError('unauthenticated', 'The signature does not match the body, or is too old.', { cause })
  }
}

/**
 * Handles an event once. An event only means that something changed for a customer. Its subscription is read from Stripe,
 * so events may come late and in any order.
 * @returns The organization of the event; null if the customer is unknown, or the event was handled before.
 */
async function receiveEvent(
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
