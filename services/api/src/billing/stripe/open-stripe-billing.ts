import { inTransaction, readBillingAccount } from '@belfry/db'
import { AppError } from '@belfry/domain'
import type { Stripe } from 'stripe'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { BillingProvider } from '../billing-provider.ts'
import { chooseTier } from './choose-tier.ts'
import { receiveEvent } from './receive-event.ts'

/** The client of Stripe, and what the operator has set. */
export type StripeBilling = { stripe: Stripe; settings: NonNullable<Config['billing']> }

/** Opens the sale of tiers by Stripe. The package is loaded only here. */
export async function openStripeBilling(settings: StripeBilling['settings']): Promise<BillingProvider> {
  const { Stripe } = await import('stripe')
  const { hostname: host, port, protocol } = settings.apiUrl
  const stripe = new Stripe(settings.secretKey, {
    host,
    ...(port && { port }),
    protocol: protocol === 'http:' ? 'http' : 'https',
    timeout: 10_000,
    maxNetworkRetries: 1,
    telemetry: false,
    appInfo: { name: 'Belfry' },
  })
  const billing = { stripe, settings }

  // A call holds a connection of the pool while it waits for Stripe.
  const calling = <T>(ctx: Context, call: () => Promise<T>): Promise<T> =>
    ctx.inLine(call).catch(error => {
      const { StripeConnectionError, StripeAPIError, StripeRateLimitError } = Stripe.errors
      const isAway = [StripeConnectionError, StripeAPIError, StripeRateLimitError].some(kind => error instanceof kind)
      if (!isAway) throw error
      throw new AppError('unavailable', 'The payment provider does not answer. Try again in a moment.', {
        cause: error,
      })
    })

  return {
    name: 'stripe',
    tiers: ['free', ...settings.prices.priceOf.keys()],
    async changeTier(ctx, by, tier) {
      const change = await calling(ctx, () => chooseTier(ctx, billing, by, tier))
      ctx.quotaStandings.forget(by.organizationId)
      return change
    },
    async openPortal(ctx, organizationId, returnUrl) {
      const account = await readBillingAccount(ctx.pool, organizationId)
      const customer = account?.customerId
      if (!customer) throw new AppError('conflict', 'The organization has never had a subscription.')
      const session = await calling(ctx, () =>
        stripe.billingPortal.sessions.create({ customer, return_url: returnUrl }),
      )
      return session.url
    },
    async receiveWebhook(ctx, body, signature, address) {
      const event = verify(stripe, body, signature, settings.webhookSecret)
      const organizationId = await calling(ctx, () =>
        inTransaction(ctx.pool, tx => receiveEvent(ctx, billing, tx, event, address)),
      )
      if (organizationId !== null) ctx.quotaStandings.forget(organizationId)
    },
  }
}

function verify(stripe: Stripe, body: Buffer, signature: string, secret: string): Stripe.Event {
  try {
    return stripe.webhooks.constructEvent(body, signature, secret)
  } catch (cause) {
    throw new AppError('unauthenticated', 'The signature does not fit the body, or is too old.', { cause })
  }
}
