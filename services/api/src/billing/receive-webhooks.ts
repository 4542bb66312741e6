import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import type { RequestHandler } from 'express'
import type { Stripe } from 'stripe'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { readBytes } from '../http/read-body.ts'
import { sendReply } from '../http/reply.ts'
import { receiveEvent } from './stripe/receive-event.ts'
import { callingStripe, type StripeBilling } from './stripe/stripe-billing.ts'

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
    await sendReply(response, { status: 200, body: { received: true } })
  }
}

function verify({ stripe, settings }: StripeBilling, body: Buffer, signature: string): Stripe.Event {
  try {
    return stripe.webhooks.constructEvent(body, signature, settings.webhookSecret)
  } catch (cause) {
    throw new AppError('unauthenticated', 'The signature does not match the body, or is too old.', { cause })
  }
}
