import { fromId } from '@belfry/domain/id'
import { type StandInSubscription, type StripeStandIn, startStripeStandIn, whyNoStripe } from '@belfry/test-support'
import { afterAll, describe, expect, it } from 'vitest'
import { mailsTo } from './sent-mails.ts'
import { type Caller, useApi } from './setup.ts'

const reason = whyNoStripe()
if (reason) console.warn(`Billing by Stripe is not tested: ${reason}`)

describe.skipIf(reason !== null)('billing by Stripe', () => {
  let stripe: StripeStandIn
  const api = useApi(async () => {
    stripe = await startStripeStandIn()
    return {
      BILLING: 'stripe',
      DEFAULT_TIER: '',
      STRIPE_SECRET_KEY: 'sk_test_1',
      STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
      STRIPE_PRICES: '{"startup":"price_startup","scaleup":["price_scaleup","price_scaleup_old"]}',
      STRIPE_API_URL: stripe.url,
    }
  })
  afterAll(() => stripe?.close())

  const on = (caller: Caller, method: string, path: string, body?: unknown) =>
    api.send(method, `/api/v1/organizations/${caller.organizationId}${path}`, body, {
      Authorization: `Bearer ${caller.token}`,
    })
  const choose = (caller: Caller, tier: string) => on(caller, 'PUT', '/subscription', { tier })
  const read = async (caller: Caller) => (await on(caller, 'GET', '/subscription')).body
  const receive = ({ body, headers }: ReturnType<StripeStandIn['event']>) =>
    api.send('POST', '/api/webhooks/stripe', body, headers)
  const changed = (subscription: StandInSubscription, type = 'customer.subscription.updated') =>
    receive(stripe.event(type, { id: subscription.id, customer: subscription.customer }))
  const subjects = async (caller: Caller) => (await mailsTo(api, caller.email)).map(({ subject }) => subject)

  async function subscribed(tier = 'startup') {
    const caller = await api.signUp()
    await choose(caller, tier)
    const { rows } = await api.db.query('SELECT customer_id FROM billing_accounts WHERE organization_id = $1', [
      fromId('org', caller.organizationId),
    ])
    const subscription = stripe.pay(rows[0].customer_id, `price_${tier}`)
    await changed(subscription, 'checkout.session.completed')
    return { caller, subscription }
  }

  it('a checkout changes the tier once it is paid, and owners get a mail', async () => {
    const caller = await api.signUp()
    const begun = await choose(caller, 'startup')
    expect(begun).toMatchObject({ status: 200, body: { tier: 'free', checkout_url: `${stripe.url}/pay` } })
    const checkout = stripe.calls.find(({ body }) => body.get('client_reference_id') === caller.organizationId)
    expect(checkout?.path).toBe('/v1/checkout/sessions')
    expect(Object.fromEntries(checkout?.body ?? [])).toMatchObject({
      mode: 'subscription',
      client_reference_id: caller.organizationId,
      'line_items[0][price]': 'price_startup',
      success_url: expect.stringMatching(/^http:\/\/belfry\.test\/[\w-]+\/settings\/usage\?checkout=done$/),
    })
    const subscription = stripe.pay(String(checkout?.body.get('customer')), 'price_startup')
    expect(await changed(subscription, 'checkout.session.completed')).toMatchObject({ status: 200 })
    expect(await read(caller)).toMatchObject({
      tier: 'startup',
      available_tiers: ['free', 'startup', 'scaleup'],
      billing: { provider: 'stripe', status: 'active', next_tier: null, grace_until: null },
    })
    expect(await subjects(caller)).toEqual(['Acme: the tier is now startup'])
  })

  it('a second checkout ends the first one', async () => {
    const caller = await api.signUp()
    const before = stripe.calls.length
    await choose(caller, 'startup')
    await choose(caller, 'scaleup')
    const ended = stripe.calls.slice(before).filter(({ path }) => path.endsWith('/expire'))
    expect(ended).toHaveLength(1)
  })

  it('an upgrade is charged and applies at once', async () => {
    const { caller, subscription } = await subscribed('startup')
    expect((await choose(caller, 'scaleup')).body).toMatchObject({ tier: 'scaleup', billing: { next_tier: null } })
    expect(subscription.price).toBe('price_scaleup')
    const call = stripe.calls.find(({ path, body }) => path.endsWith(subscription.id) && body.has('payment_behavior'))
    expect(call?.body.get('proration_behavior')).toBe('always_invoice')
  })

  it('a downgrade applies at the end of the period, and can be undone', async () => {
    const { caller, subscription } = await subscribed('scaleup')
    const next = { tier: 'startup', at: new Date(subscription.periodEnd * 1000).toISOString() }
    expect((await choose(caller, 'startup')).body).toMatchObject({ tier: 'scaleup', billing: { next_tier: next } })
    expect((await choose(caller, 'scaleup')).body).toMatchObject({ tier: 'scaleup', billing: { next_tier: null } })
    await choose(caller, 'startup')
    stripe.endPeriod(subscription)
    await changed(subscription)
    expect(await read(caller)).toMatchObject({ tier: 'startup', billing: { status: 'active', next_tier: null } })
  })

  it('a cancelled subscription ends with its period', async () => {
    const { caller, subscription } = await subscribed()
    expect((await choose(caller, 'free')).body).toMatchObject({
      tier: 'startup',
      billing: { next_tier: { tier: 'free' } },
    })
    stripe.endPeriod(subscription)
    await changed(subscription, 'customer.subscription.deleted')
    expect(await read(caller)).toMatchObject({ tier: 'free', billing: { status: 'canceled', next_tier: null } })
    expect(await subjects(caller)).toContain('Acme: the tier is now free')
  })

  it('a failed payment keeps the tier for the grace period, and notifies the owners once', async () => {
    const { caller, subscription } = await subscribed()
    subscription.status = 'past_due'
    await changed(subscription, 'invoice.payment_failed')
    await changed(subscription)
    const failed = await read(caller)
    expect(failed).toMatchObject({ tier: 'startup', billing: { status: 'payment_failed' } })
    expect(Date.parse(failed.billing.grace_until) - Date.now()).toBeGreaterThan(6 * 24 * 3_600_000)
    expect((await subjects(caller)).filter(subject => subject.includes('payment failed'))).toHaveLength(1)
    expect((await choose(caller, 'scaleup')).body).toMatchObject({
      tier: 'startup',
      checkout_url: `${stripe.url}/invoice`,
    })
    subscription.status = 'active'
    await changed(subscription, 'invoice.paid')
    expect(await read(caller)).toMatchObject({ tier: 'startup', billing: { status: 'active', grace_until: null } })
  })

  it('a tier that an operator sets stays until what billing grants changes', async () => {
    const { caller, subscription } = await subscribed()
    const id = fromId('org', caller.organizationId)
    const afterEvent = async (tier: string) => {
      await api.db.query('UPDATE organizations SET tier = $2 WHERE id = $1', [id, tier])
      await changed(subscription)
      return (await read(caller)).tier
    }
    expect(await afterEvent('unicorn')).toBe('unicorn')
    subscription.status = 'past_due'
    expect(await afterEvent('unicorn')).toBe('unicorn')
    await api.db.query(
      `UPDATE billing_accounts SET grace_until = now() - interval '1 hour', updated_at = now() - interval '2 hours'
       WHERE organization_id = $1`,
      [id],
    )
    expect([await afterEvent('unicorn'), await afterEvent('unicorn')]).toEqual(['free', 'unicorn'])
    subscription.status = 'canceled'
    expect(await afterEvent('unicorn')).toBe('free')
    subscription.status = 'active'
    expect(await afterEvent('unicorn')).toBe('startup')
  })

  it('an event is handled once, and in any order', async () => {
    const { caller, subscription } = await subscribed()
    const { id, customer } = subscription
    const stale = stripe.event('customer.subscription.updated', { id, customer, status: 'active' })
    subscription.status = 'canceled'
    const ended = stripe.event('customer.subscription.deleted', { id, customer })
    expect((await receive(ended)).status).toBe(200)
    expect((await receive(stale)).status).toBe(200)
    expect((await read(caller)).tier).toBe('free')
    subscription.status = 'active'
    expect((await receive(ended)).status).toBe(200)
    expect((await read(caller)).tier).toBe('free')
    const again = stripe.event('customer.subscription.updated', { id, customer })
    const answers = await Promise.all(Array.from({ length: 5 }, () => receive(again)))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    expect((await read(caller)).tier).toBe('startup')
    const entries = await api.db.query(
      `SELECT count(*)::int AS n FROM audit_log WHERE organization_id = $1 AND action = 'organization.tier_changed'`,
      [fromId('org', caller.organizationId)],
    )
    expect(entries.rows[0].n).toBe(3)
  })

  it('an event that is not signed, is altered or is old changes nothing', async () => {
    const { caller, subscription } = await subscribed()
    subscription.status = 'canceled'
    const { body, headers } = stripe.event('customer.subscription.deleted', { customer: subscription.customer })
    expect(await receive({ body, headers: { 'Content-Type': 'application/json' } })).toMatchObject({ status: 401 })
    expect(await receive({ body: `${body} `, headers })).toMatchObject({ status: 401 })
    const old = headers['Stripe-Signature']?.replace(/t=\d+/, 't=1600000000') ?? ''
    expect(await receive({ body, headers: { ...headers, 'Stripe-Signature': old } })).toMatchObject({ status: 401 })
    expect((await read(caller)).tier).toBe('startup')
  })

  it('an event of an unknown customer is accepted and ignored', async () => {
    const answer = await receive(stripe.event('customer.subscription.updated', { customer: 'cus_of_others' }))
    expect(answer).toMatchObject({ status: 200 })
  })

  it('the portal is available once there is a customer', async () => {
    const { caller } = await subscribed()
    expect(await on(caller, 'POST', '/subscription/portal')).toMatchObject({
      status: 200,
      body: { url: `${stripe.url}/portal` },
    })
    expect(await on(await api.signUp(), 'POST', '/subscription/portal')).toMatchObject({ status: 409 })
  })

  it('a tier without a price cannot be chosen', async () => {
    const answer = await choose(await api.signUp(), 'unicorn')
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'tier', code: 'not_for_sale' }] } })
  })

  it('an organization with a subscription that renews cannot be deleted', async () => {
    const { caller } = await subscribed()
    await api.send('DELETE', `/api/v1/workspaces/${caller.workspaceId}`, undefined, {
      Authorization: `Bearer ${caller.token}`,
    })
    expect(await on(caller, 'DELETE', '')).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('subscription') },
    })
    await choose(caller, 'free')
    expect(await on(caller, 'DELETE', '')).toMatchObject({ status: 204 })
  })

  it('a deletion ends the open checkout, and is refused when the checkout is paid and its event late', async () => {
    const begun = async () => {
      const caller = await api.signUp()
      await choose(caller, 'startup')
      const as = { Authorization: `Bearer ${caller.token}` }
      await api.send('DELETE', `/api/v1/workspaces/${caller.workspaceId}`, undefined, as)
      const before = stripe.calls.length
      const remove = async () => (await on(caller, 'DELETE', '')).status
      const ended = () => stripe.calls.slice(before).filter(({ path }) => path.endsWith('/expire')).length
      return { caller, remove, ended }
    }
    const unpaid = await begun()
    expect([await unpaid.remove(), unpaid.ended()]).toEqual([204, 1])
    const paid = await begun()
    const text = 'SELECT customer_id FROM billing_accounts WHERE organization_id = $1'
    const { rows } = await api.db.query(text, [fromId('org', paid.caller.organizationId)])
    stripe.pay(rows[0].customer_id, 'price_startup')
    expect(await paid.remove()).toBe(409)
    expect(await read(paid.caller)).toMatchObject({ tier: 'startup', billing: { status: 'active' } })
  })

  it('responds with 503 while Stripe is unavailable', async () => {
    const { caller } = await subscribed()
    const before = stripe.calls.length
    await stripe.whileDown(async () => {
      expect(await choose(caller, 'scaleup')).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    })
    expect(stripe.calls).toHaveLength(before)
  })
})
