import { type StandInSubscription, type StripeStandIn, startStripeStandIn, whyNoStripe } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const reason = whyNoStripe()
if (reason) console.warn(`Billing by Stripe is not tested: ${reason}`)

describe.skipIf(reason !== null)('billing by Stripe', { timeout: 300_000 }, () => {
  let stripe: StripeStandIn
  const stage = useStage({
    env: async () => {
      stripe = await startStripeStandIn()
      return {
        DEFAULT_TIER: 'free',
        BILLING: 'stripe',
        STRIPE_SECRET_KEY: 'sk_test_1',
        STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
        STRIPE_PRICES: '{"startup":"price_startup","scaleup":"price_scaleup"}',
        STRIPE_API_URL: stripe.url,
      }
    },
  })
  afterAll(() => stripe?.close())

  // Sends what Stripe would send.
  const report = async (type: string, { id, customer }: StandInSubscription) => {
    const { body, headers } = stripe.event(type, { id, customer })
    const answer = await fetch(`${stage.belfry.url}/api/webhooks/stripe`, { method: 'POST', body, headers })
    expect([type, answer.status]).toEqual([type, 200])
  }
  const mailed = (subject: string) =>
    waitFor(
      async () => stage.mailServer.mails.map(mail => mail.subject),
      subjects => subjects.some(one => one.includes(subject)),
      60_000,
    )
  const choose = async (page: Page, tier: string) => {
    await page.getByLabel('New tier').selectOption(tier)
    await page.getByRole('button', { name: 'Change tier' }).click()
    await page.getByRole('dialog').waitFor()
  }
  const asOwner = () => ({ token: stage.belfry.caller.token ?? '' })
  const confirm = (page: Page) => page.getByRole('dialog').getByRole('button', { name: 'Change tier' }).click()

  it('goes from the checkout through changes and a failed payment to the end of the subscription', async () => {
    const page = await stage.ownerPage({ expected: /request: / })
    const billingPage = `/${(await stage.home()).split('/')[1]}/settings/usage`
    await page.goto(billingPage)
    await page.getByText('No subscription').waitFor()
    await expectAccessible(page, ':slug/settings/usage')
    await takeScreenshots(page, 'billing-none')

    // Checkout.
    await choose(page, 'startup')
    await takeScreenshots(page, 'billing-checkout-dialog')
    await confirm(page)
    await page.waitForURL(`${stripe.url}/pay`)
    const checkout = stripe.calls.find(({ path }) => path === '/v1/checkout/sessions')?.body
    const subscription = stripe.pay(String(checkout?.get('customer')), 'price_startup')
    await page.goto(String(checkout?.get('success_url')))
    await page.getByText('Confirming your payment').waitFor()
    await takeScreenshots(page, 'billing-confirming')
    await report('checkout.session.completed', subscription)
    await page.getByText('of 500,000').waitFor()
    await page.getByText('Active', { exact: true }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    await mailed('the tier is now startup')
    await expectAccessible(page, ':slug/settings/usage')
    await takeScreenshots(page, 'billing-active')

    // An upgrade applies immediately, a downgrade at the end of the period.
    await choose(page, 'scaleup')
    await confirm(page)
    await page.getByText('of 10,000,000').waitFor()
    await mailed('the tier is now scaleup')
    await choose(page, 'startup')
    await confirm(page)
    await page.getByText('Changes to Startup on').waitFor()
    await expectAccessible(page, ':slug/settings/usage')
    await takeScreenshots(page, 'billing-downgrade')
    stripe.endPeriod(subscription)
    await report('customer.subscription.updated', subscription)
    await page.reload()
    await page.getByText('of 500,000').waitFor()

    // A failed payment.
    subscription.status = 'past_due'
    await report('invoice.payment_failed', subscription)
    await mailed('the payment failed')
    await page.reload()
    await page.getByRole('alert').getByText('The last payment failed. You keep the Startup tier until').waitFor()
    await expectAccessible(page, ':slug/settings/usage')
    await takeScreenshots(page, 'billing-payment-failed')
    await page.getByRole('button', { name: 'Manage billing' }).click()
    await page.waitForURL(`${stripe.url}/portal`)
    subscription.status = 'active'
    await report('invoice.paid', subscription)
    await page.goto(billingPage)
    await page.getByText('Active', { exact: true }).waitFor()

    // A cancelled subscription.
    await choose(page, 'free')
    await confirm(page)
    await page.getByText('Changes to Free on').waitFor()
    await takeScreenshots(page, 'billing-cancelled')
    stripe.endPeriod(subscription)
    await report('customer.subscription.deleted', subscription)
    await page.reload()
    await page.getByText('Canceled', { exact: true }).waitFor()
    await page.getByText('of 10,000', { exact: true }).waitFor()
    await mailed('the tier is now free')

    // A payment that is never made: the scheduler ends the tier after the grace period.
    const second = stripe.pay(subscription.customer, 'price_scaleup')
    await report('customer.subscription.created', second)
    second.status = 'past_due'
    await report('invoice.payment_failed', second)
    await page.reload()
    await page.getByText('of 10,000,000').waitFor()
    await stage.belfry.execute(`UPDATE billing_accounts SET grace_until = now() - interval '1 ms'`)
    const owned = `/api/v1/organizations/${stage.belfry.caller.organizationId}/subscription`
    const read = async () => (await stage.belfry.call('GET', owned, undefined, asOwner())).body
    await waitFor(read, ({ tier }) => tier === 'free', 120_000)
    await page.reload()
    await page.getByRole('alert').getByText('The grace period is over').waitFor()
  })
})
