import { AppError } from '@belfry/domain/app-error'
import type { Stripe } from 'stripe'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'

export type StripeBilling = { stripe: Stripe; settings: NonNullable<Config['billing']> }

/** Makes the client of Stripe. The package is loaded only by installations that sell tiers. */
export async function openStripeBilling(settings: StripeBilling['settings']): Promise<StripeBilling> {
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
  return { stripe, settings }
}

/**
 * Runs work that calls Stripe, under the limit for transactions: it may hold a connection while it waits for Stripe.
 * @throws AppError `unavailable` when Stripe does not respond.
 */
export async function callingStripe<T>({ transactionLimit }: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await transactionLimit(work)
  } catch (cause) {
    const { StripeConnectionError, StripeAPIError, StripeRateLimitError } = (await import('stripe')).Stripe.errors
    const isAway = [StripeConnectionError, StripeAPIError, StripeRateLimitError].some(kind => cause instanceof kind)
    if (!isAway) throw cause
    throw new AppError('unavailable', 'The payment provider does not respond. Try again in a moment.', { cause })
  }
}
