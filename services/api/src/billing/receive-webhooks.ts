import type { RequestHandler } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { readBytes } from '../http/read-body.ts'
import { sendReply } from '../http/send.ts'
import type { BillingProvider } from './billing-provider.ts'

// An event holds one object of Stripe, whose lists are short.
const maxBytes = 1024 * 1024

/** Takes the events that the provider sends: a failure is answered as one, so the provider sends the event again. */
export function receiveWebhooks(ctx: Context, receive: NonNullable<BillingProvider['receiveWebhook']>): RequestHandler {
  return async (request, response) => {
    const body = await readBytes(request, response, maxBytes)
    await receive(ctx, body, String(request.headers['stripe-signature'] ?? ''), callerAddress(request))
    await sendReply(response, { status: 200, body: { received: true } })
  }
}
