import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { finishConnectionTest, takeConnectionTest } from '@belfry/db/connections/connection-tests'
import { hashAddress } from '@belfry/db/outbox/mail-blocks'
import { finishOutboxMessage, takeFromOutbox } from '@belfry/db/outbox/outbox'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { unsubscribeToken } from '@belfry/vault'
import { TOTP } from 'otpauth'
import { openStripeBilling } from '../../src/billing/stripe/stripe-billing.ts'
import { anAuthenticator } from '../authenticator.ts'
import { aJobIssuer, anOrganizationThatTrusts } from '../job-tokens.ts'
import { claimsOf, type useOidc } from '../oidc-sign-in.ts'
import { aPerson, type Person, password, type TestOrganization } from '../organization.ts'
import { openCircuit } from '../permissions/objects.ts'
import { storeRuns } from '../run-rows.ts'
import { tokenFor } from '../sent-mails.ts'
import type { Json, TestApi } from '../setup.ts'

/** Where a request is sent: an organization of its own, in which its owner has a session. */
export type Stage = {
  oidc: ReturnType<typeof useOidc>
  api: TestApi
  organization: TestOrganization
  owner: Person
  headers: Record<string, string>
  /** Sends a request of the owner, and returns the body of the response. */
  send(method: string, path: string, body?: unknown): Promise<Json>
  /** Returns the id of an object in the organization. Makes the object at the first call. */
  idOf(kind: string): Promise<string>
}

/** A request whose parts depend on what was made before it. */
type Prepared = {
  /** The ids in the path that are not those of the objects with the names of the parameters. */
  ids?: Record<string, string>
  query?: string
  headers?: Record<string, string>
  body?: unknown
  /** What another process does until the response arrives. */
  meanwhile?(): Promise<unknown>
  undo?(): void
}

/** Makes what a request needs, and returns the request, by operation. */
export const prepared: Readonly<Record<string, (stage: Stage) => Promise<Prepared>>> = {
  'POST /api/v1/auth/login': async ({ owner: { email } }) => ({ body: { email, password } }),
  'POST /api/v1/auth/login/factor': async stage => {
    const totp = await addApp(stage)
    const { sign_in_token } = await logIn(stage)
    // Each code works once. The tolerance for clocks allows the next one.
    return { body: { sign_in_token, code: codeOf(stage, totp, 30_000) } }
  },
  'POST /api/v1/auth/login/passkey': async ({ send }) => {
    const authenticator = anAuthenticator()
    const passkey = authenticator.make(await send('POST', '/api/v1/auth/factors/passkeys/options'))
    await send('POST', '/api/v1/auth/factors/passkeys', { name: 'Laptop', passkey })
    return { body: { passkey: authenticator.sign(await send('POST', '/api/v1/auth/login/passkey/options', {})) } }
  },
  'DELETE /api/v1/auth/sessions/:session': async stage => {
    await logIn(stage)
    const { data } = await stage.send('GET', '/api/v1/auth/sessions')
    return { ids: { session: data.find(({ is_current }: Json) => !is_current).id } }
  },
  'POST /api/v1/auth/me/delete': async ({ organization, send, idOf }) => {
    await send('POST', `/api/v1/organizations/${organization.id}/transfer`, { user_id: await idOf('user') })
    return { body: { current_password: password } }
  },

  'POST /api/v1/auth/factors/passkeys': async ({ send }) => {
    const options = await send('POST', '/api/v1/auth/factors/passkeys/options')
    return { body: { name: 'Laptop', passkey: anAuthenticator().make(options) } }
  },
  'POST /api/v1/auth/factors/totp/confirm': async stage => ({ body: { code: codeOf(stage, await startApp(stage)) } }),
  'DELETE /api/v1/auth/factors/totp': async stage => {
    await addApp(stage)
    return {}
  },
  'POST /api/v1/auth/factors/recovery-codes': async stage => {
    await addApp(stage)
    return {}
  },

  'GET /api/v1/auth/log': async ({ send }) => {
    await send('POST', '/api/v1/auth/factors/recovery-codes')
    return {}
  },
  'GET /api/v1/operator/blocked-addresses': async ({ send }) => {
    await send('POST', '/api/v1/operator/blocked-addresses', { email: 'eve@example.com', reason: 'Complaint' })
    return {}
  },

  'POST /api/v1/auth/email/confirm': async ({ api }) => {
    const { email, session } = await aPerson(api)
    await api.send('POST', '/api/v1/auth/email/resend', undefined, session)
    return { body: { token: await tokenFor(api, email) } }
  },
  'POST /api/v1/auth/password/reset': async ({ api, owner: { email }, send }) => {
    await send('POST', '/api/v1/auth/password/forgot', { email })
    return { body: { token: await tokenFor(api, email), password } }
  },
  'POST /api/v1/integrations/confirm': async ({ api, organization, send }) => {
    const email = `${newUuid()}@example.com`
    const path = `/api/v1/workspaces/${organization.workspaceId}/integrations`
    await send('POST', path, { name: 'Alerts', channel: 'email', email, events: ['task.dead'] })
    return { body: { token: await tokenFor(api, email) } }
  },
  'POST /api/v1/integrations/unsubscribe': async ({ api, owner: { email } }) => ({
    query: `?token=${unsubscribeToken(api.ctx.config.masterKeys, hashAddress(email))}`,
  }),
  'POST /api/v1/invitations/preview': async ({ idOf }) => ({ body: { token: await idOf('token') } }),
  'POST /api/v1/invitations/accept': async ({ idOf }) => ({
    body: { token: await idOf('token'), name: 'Grace', password },
  }),

  'GET /api/v1/auth/oidc/callback': async ({ oidc: { begin, issuer } }) => {
    const begun = await begin()
    const claims = claimsOf(begun)
    issuer.userInfo = { sub: claims.sub }
    issuer.tokens.set(claims.sub, await issuer.sign(claims))
    const query = new URLSearchParams({ code: claims.sub, state: begun.state, iss: issuer.url })
    return { query: `?${query}`, headers: { Cookie: begun.cookie } }
  },
  'POST /api/v1/auth/token-exchange': async ({ api }) => {
    const issuer = await aJobIssuer()
    const { credential } = await anOrganizationThatTrusts(api, issuer)
    return { body: { federated_credential_id: credential.id, token: await issuer.sign() } }
  },

  'DELETE /api/v1/organizations/:org': async ({ send }) => {
    const { id } = await send('POST', '/api/v1/organizations', { name: 'Acme' })
    return { ids: { org: id } }
  },
  'POST /api/v1/organizations/:org/transfer': async ({ idOf }) => ({ body: { user_id: await idOf('user') } }),
  'GET /api/v1/organizations/:org/audit-stream': putAuditStream,
  'POST /api/v1/organizations/:org/audit-stream/rotate': putAuditStream,
  'POST /api/v1/organizations/:org/subscription/portal': payForTier,

  'DELETE /api/v1/scheduler/subscriptions/:sub/signing-secrets/:secret': async ({ send, idOf }) => {
    const path = `/api/v1/scheduler/subscriptions/${await idOf('sub')}/signing-secrets`
    const { id } = await send('POST', path)
    await send('POST', path)
    return { ids: { secret: id } }
  },
  'GET /api/v1/scheduler/subscriptions/:sub/signing-secrets': async ({ send, idOf }) => {
    await send('POST', `/api/v1/scheduler/subscriptions/${await idOf('sub')}/signing-secrets`)
    return {}
  },
  'GET /api/v1/scheduler/cronjobs/recent-runs': async ({ api: { db }, organization, idOf }) => {
    const id = await idOf('cronjob')
    const workspaceId = fromId('ws', organization.workspaceId) ?? ''
    const cronJobId = fromId('cron', id)
    // Before all runs that the other examples have.
    await storeRuns(db, [{ workspaceId, cronJobId, source: 'cron', startedAt: new Date(Date.now() - 600_000) }])
    return { query: `?cronjob_id=${id}` }
  },
  'GET /api/v1/scheduler/hosts': openHostCircuit,
  'GET /api/v1/scheduler/hosts/:host': openHostCircuit,
  'GET /api/v1/scheduler/runs/stream': returnToStream,
  'GET /api/v1/organizations/:org/runs/stream': returnToStream,

  // Here and below, the dispatcher.
  'POST /api/v1/workspaces/:ws/connections/:connection/test': async ({ api: { db } }) => ({
    body: { url: 'https://example.com/orders' },
    async meanwhile() {
      const test = await takeConnectionTest(db, [])
      const outcome = { ok: true, message: 'The target answered 200.', responseStatus: 200 }
      if (test) await finishConnectionTest(db, test.id, outcome)
    },
  }),
  'POST /api/v1/workspaces/:ws/integrations/:int/test': async ({ api: { db } }) => ({
    async meanwhile() {
      const message = await takeFromOutbox(db, 'webhook', 60_000)
      if (message) await finishOutboxMessage(db, message, null)
    },
  }),
}

const logIn = ({ owner: { email }, send }: Stage): Promise<Json> =>
  send('POST', '/api/v1/auth/login', { email, password })

async function startApp({ send }: Stage): Promise<TOTP> {
  return new TOTP({ secret: (await send('POST', '/api/v1/auth/factors/totp')).secret })
}

async function addApp(stage: Stage): Promise<TOTP> {
  const totp = await startApp(stage)
  await stage.send('POST', '/api/v1/auth/factors/totp/confirm', { code: codeOf(stage, totp) })
  return totp
}

const codeOf = ({ api }: Stage, totp: TOTP, aheadMs = 0): string =>
  totp.generate({ timestamp: api.ctx.clock.now() + aheadMs })

async function putAuditStream({ organization, send }: Stage): Promise<Prepared> {
  const url = 'https://logs.example.com/belfry'
  await send('PUT', `/api/v1/organizations/${organization.id}/audit-stream`, { url })
  return {}
}

// It is open for seconds.
async function openHostCircuit({ api, organization }: Stage): Promise<Prepared> {
  return { ids: { host: await openCircuit(api, organization) } }
}

// The runs since then are sent first.
async function returnToStream(): Promise<Prepared> {
  return { headers: { 'Last-Event-ID': toId('run', newUuid(Date.now() - 300_000)) } }
}

/** Gives the organization a customer of a payment provider. */
async function payForTier({ api: { ctx, db }, organization }: Stage): Promise<Prepared> {
  const provider = createServer((_request, response) => {
    response.end(JSON.stringify({ url: 'https://pay.example.com/portal' }))
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const apiUrl = new URL(`http://127.0.0.1:${(provider.address() as AddressInfo).port}`) // it listens on a port
  const prices = { tierOf: new Map(), priceOf: new Map() }
  ctx.stripe = await openStripeBilling({ secretKey: 'sk_test_1', webhookSecret: 'whsec_1', prices, apiUrl, graceMs: 0 })
  const text = `INSERT INTO billing_accounts (organization_id, customer_id) VALUES ($1, 'cus_1')`
  await db.query(text, [fromId('org', organization.id)])
  return {
    undo() {
      ctx.stripe = null
      provider.close()
      provider.closeAllConnections()
    },
  }
}
