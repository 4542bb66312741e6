import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { freePort, waitUntil } from '@belfry/embedded'
import { Stripe } from 'stripe'
import { type RunningProcess, startProcess } from './servers/index.ts'

type Json = Record<string, unknown>
type Phase = { start_date: number; end_date: number; items: Array<{ price: string }> }

/** A subscription of the stand-in. */
export type StandInSubscription = {
  id: string
  customer: string
  created: number
  status: string
  price: string
  periodEnd: number
  cancelAtPeriodEnd: boolean
  phases: Phase[]
}

export type StripeCall = { method: string; path: string; body: URLSearchParams }

/** Stripe's own stripe-mock, which validates requests, behind a server with subscriptions that tests can change. */
export type StripeStandIn = {
  url: string
  webhookSecret: string
  /** All requests except reads. */
  calls: StripeCall[]
  subscriptions: StandInSubscription[]
  /** Pays a customer's checkout, which creates a subscription. */
  pay(customer: string, price: string): StandInSubscription
  /** Ends the period: a planned change or cancellation takes effect. */
  endPeriod(subscription: StandInSubscription): void
  /** Returns the body and the signature of an event, as Stripe would send it. */
  event(type: string, object: Json, id?: string): { body: string; headers: Record<string, string> }
  /** Breaks every connection until a function has ended. */
  whileDown(run: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

const month = 30 * 24 * 3600
const seconds = () => Math.floor(Date.now() / 1000)

/** Returns why this machine cannot run the stand-in; null when it can. */
export function whyNoStripe(): string | null {
  return stripeMock() === null
    ? 'stripe-mock is not installed: go install github.com/stripe/stripe-mock@v0.203.0'
    : null
}

export async function startStripeStandIn(): Promise<StripeStandIn> {
  const program = stripeMock()
  if (program === null) throw new Error(String(whyNoStripe()))
  const { mock, mockUrl } = await startMock(program)
  const subscriptions: StandInSubscription[] = []
  const calls: StripeCall[] = []
  const server = createServer(async (request, response) => {
    if (!request.url?.startsWith('/v1/')) {
      response.writeHead(200, { 'Content-Type': 'text/html' })
      response.end(`<!doctype html><link rel="icon" href="data:,"><title>Stripe</title><h1>Stripe ${request.url}</h1>`)
      return
    }
    const answer = await handle(request).catch(error => ({ status: 500, body: { error: { message: String(error) } } }))
    response.writeHead(answer.status, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(answer.body))
  })
  let isDown = false
  server.on('connection', socket => {
    if (isDown) socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function handle(request: IncomingMessage): Promise<{ status: number; body: Json }> {
    const text = await textOf(request)
    const method = String(request.method)
    const target = new URL(String(request.url), url)
    const headers = {
      authorization: String(request.headers.authorization),
      'content-type': 'application/x-www-form-urlencoded',
    }
    const checked = await fetch(mockUrl + request.url, { method, headers, ...(text && { body: text }) })
    const mocked = (await checked.json()) as Json
    if (!checked.ok) return { status: checked.status, body: mocked }
    const call = { method, path: target.pathname, body: new URLSearchParams(text) }
    if (method !== 'GET') calls.push(call)
    return { status: 200, body: answerOf({ url, calls, subscriptions }, call, target, mocked) ?? mocked }
  }

  const webhookSecret = 'whsec_of_the_stand_in'
  const { webhooks } = new Stripe('sk_test_1')
  return {
    url,
    webhookSecret,
    calls,
    subscriptions,
    pay(customer, price) {
      const id = `sub_${subscriptions.length + 1}`
      const created = seconds() - 1000 + subscriptions.length
      const plain = { status: 'active', periodEnd: seconds() + month, cancelAtPeriodEnd: false, phases: [] }
      const subscription = { id, customer, created, price, ...plain }
      subscriptions.push(subscription)
      return subscription
    },
    endPeriod(subscription) {
      const [, next] = subscription.phases
      if (next) subscription.price = next.items[0]?.price ?? subscription.price
      if (subscription.cancelAtPeriodEnd) subscription.status = 'canceled'
      Object.assign(subscription, { phases: [], cancelAtPeriodEnd: false, periodEnd: subscription.periodEnd + month })
    },
    event(type, object, id = `evt_${crypto.randomUUID()}`) {
      const body = JSON.stringify({ id, object: 'event', type, created: seconds(), data: { object } })
      const signature = webhooks.generateTestHeaderString({ payload: body, secret: webhookSecret })
      return { body, headers: { 'Content-Type': 'application/json', 'Stripe-Signature': signature } }
    },
    async whileDown(run) {
      isDown = true
      server.closeAllConnections()
      await run().finally(() => {
        isDown = false
      })
    },
    async close() {
      await mock.stop()
      await closed(server)
    },
  }
}

/** Starts stripe-mock, which validates requests. */
async function startMock(program: string): Promise<{ mock: RunningProcess; mockUrl: string }> {
  const mockPort = await freePort()
  const mock = startProcess([program, '-http-port', String(mockPort)])
  const mockUrl = `http://127.0.0.1:${mockPort}`
  await waitUntil(
    () =>
      fetch(mockUrl).then(
        () => true,
        () => false,
      ),
    60_000,
  )
  return { mock, mockUrl }
}

function stripeMock(): string | null {
  const places = ['stripe-mock', join(homedir(), 'go/bin/stripe-mock'), process.env.STRIPE_MOCK_PATH ?? '']
  return places.find(place => place !== '' && spawnSync(place, ['-version']).status === 0) ?? null
}

// Returns the response about subscriptions; null when stripe-mock's own response is enough.
function answerOf(
  { url, calls, subscriptions }: Pick<StripeStandIn, 'url' | 'calls' | 'subscriptions'>,
  { method, path, body }: StripeCall,
  target: URL,
  mocked: Json,
): Json | null {
  const [, , kind, id, verb] = path.split('/')
  const subscription = subscriptions.find(one => one.id === id || scheduleOf(one) === id)
  if (kind === 'customers' && method === 'POST') return { ...mocked, id: `cus_${calls.length}` }
  if (kind === 'checkout' && method === 'POST' && !verb)
    return { ...mocked, id: `cs_${calls.length}`, url: `${url}/pay` }
  if (kind === 'billing_portal') return { ...mocked, url: `${url}/portal` }
  if (kind === 'invoices') return { ...mocked, hosted_invoice_url: `${url}/invoice` }
  if (kind === 'subscriptions' && method === 'GET' && !id) {
    const own = subscriptions.filter(({ customer }) => customer === target.searchParams.get('customer'))
    const [template] = mocked.data as Json[]
    return { ...mocked, data: own.map(one => present(one, template ?? {})) }
  }
  if (kind === 'subscriptions' && subscription) {
    subscription.price = body.get('items[0][price]') ?? subscription.price
    subscription.cancelAtPeriodEnd =
      (body.get('cancel_at_period_end') ?? `${subscription.cancelAtPeriodEnd}`) === 'true'
    if (method === 'DELETE') subscription.status = 'canceled'
    return present(subscription, mocked)
  }
  if (kind === 'subscription_schedules') {
    const of = subscription ?? subscriptions.find(one => one.id === body.get('from_subscription'))
    if (!of) return null
    if (verb === 'release') of.phases = []
    else if (!id) of.phases = [{ start_date: of.created, end_date: of.periodEnd, items: [{ price: of.price }] }]
    else of.phases = [...of.phases, laterPhase(of, body)]
    return { ...mocked, id: scheduleOf(of), phases: of.phases }
  }
  return null
}

const scheduleOf = ({ id }: StandInSubscription) => `sub_sched_${id}`

function laterPhase({ periodEnd }: StandInSubscription, body: URLSearchParams): Phase {
  const price = body.get('phases[1][items][0][price]') ?? ''
  return { start_date: periodEnd, end_date: periodEnd + month, items: [{ price }] }
}

// Returns stripe-mock's response with the fields that tests change.
function present(one: StandInSubscription, template: Json): Json {
  const [item] = (template.items as { data: Json[] }).data
  const price = { ...(item?.price as Json), id: one.price }
  return {
    ...template,
    ...{ id: one.id, customer: one.customer, status: one.status, created: one.created, cancel_at: null },
    ...{ cancel_at_period_end: one.cancelAtPeriodEnd, pending_update: null, latest_invoice: 'in_1' },
    items: { object: 'list', data: [{ ...item, id: `si_${one.id}`, price, current_period_end: one.periodEnd }] },
    schedule: one.phases.length > 0 ? { id: scheduleOf(one), phases: one.phases } : null,
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
}
