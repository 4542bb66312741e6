import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPool, type Pool } from '@belfry/db'
import { newUuid } from '@belfry/domain'
import { createLogger, openHost } from '@belfry/runtime'
import { createTestDatabase, serviceUrl } from '@belfry/test-support'
import { afterAll, beforeAll } from 'vitest'
import { createApp } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import { type Context, closeContext, openContext } from '../src/context.ts'
import { createApiServer } from '../src/http/api-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
export type Json = any
export type Answer = { status: number; headers: Headers; text: string; body: Json }
export type Caller = { apiKey: string; token: string; workspaceId: string; organizationId: string; email: string }

type Environment = Record<string, string>

export type TestApi = {
  readonly url: string
  /** The API's, whose connections have its database role. */
  readonly ctx: Context
  /** The database, as its owner. */
  readonly db: Pool
  /** Calls with the given headers; sends a string or bytes unchanged, and other values as JSON. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Calls with a new workspace's API key. */
  call(method: string, path: string, body?: unknown): Promise<Answer>
  readonly caller: Caller
  signUp(): Promise<Caller>
  /** Returns the number of rows of a table. */
  count(table: string): Promise<number>
}

/**
 * Runs the API in this process on its own database.
 * @param environment - Variables that are different, perhaps depending on the database. Default: none.
 * @param isPaced - Whether callers wait before they exceed their rate limit, as its headers ask for. Default: no.
 * @param signsUp - Whether the API has a first user, `caller`. Default: yes.
 */
export function useApi(
  environment: (databaseUrl: string) => Promise<Environment> | Environment = () => ({}),
  { isPaced = false, signsUp = true } = {},
): TestApi {
  let ctx: Context
  let db: Pool
  let url = ''
  let caller: Caller
  let end: () => Promise<void>

  beforeAll(async () => {
    const database = await createTestDatabase()
    db = openPool(database.url, { max: 10, onError: () => {} })
    const config = loadConfig({
      DATABASE_URL: serviceUrl(database.url, 'api'),
      JWT_SECRET: 'a secret of thirty-two characters or more',
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      PUBLIC_URL: 'http://belfry.test',
      ALLOWED_PRIVATE_TARGETS: '10.1.0.0/16',
      REGISTRATION: 'open', // by default only the first account registers, and each test has an account of its own
      TIER_CHANGES: 'owner', // not the default: there is no operator here who could choose a tier
      ...(await environment(database.url)),
    })
    const log = createLogger('api', 'silent')
    const host = await openHost(log, new AbortController().signal, {
      roles: ['api'],
      operatorListen: null,
      traces: false,
    })
    ctx = await openContext(config, log, host)
    const app = createApp(ctx, { database: async () => {}, ...(ctx.queue && { queue: ctx.queue.ping }) })
    const server = createApiServer(ctx, app)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    if (signsUp) caller = await signUp()
    end = async () => {
      server.close()
      server.closeAllConnections()
      await closeContext(ctx)
      await db.end()
      await database.drop()
    }
  })
  afterAll(() => end())

  const send: TestApi['send'] = async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(url + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    })
    const text = await response.text()
    const [, seconds] = /;r=[0-4];t=(\d+)/.exec(response.headers.get('ratelimit') ?? '') ?? []
    if (isPaced && seconds !== undefined) await sleep(Number(seconds) * 1000)
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: /[/+]json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : undefined,
    }
  }

  async function signUp(): Promise<Caller> {
    const email = `${newUuid()}@example.com`
    const registration = { email, password: 'correct horse battery', name: 'A user' }
    const registered = await send('POST', '/api/v1/auth/register', registration)
    const token = registered.body.token as string
    const session = { Authorization: `Bearer ${token}` }
    const organization = await send('POST', '/api/v1/organizations', { name: 'Acme' }, session)
    const path = `/api/v1/organizations/${organization.body.id}/workspaces`
    const workspace = await send('POST', path, { name: 'Main' }, session)
    const key = await send('POST', `/api/v1/workspaces/${workspace.body.id}/api-keys`, { name: 'Test' }, session)
    const ids = { workspaceId: workspace.body.id, organizationId: organization.body.id }
    return { ...ids, token, email, apiKey: key.body.key }
  }

  return {
    get url() {
      return url
    },
    get ctx() {
      return ctx
    },
    get db() {
      return db
    },
    get caller() {
      return caller
    },
    send,
    call: (method, path, body) => send(method, path, body, { 'X-Api-Key': caller.apiKey }),
    signUp,
    async count(table) {
      const { rows } = await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`)
      return rows[0]?.n ?? 0
    },
  }
}

/** Returns a body that creates a task an hour ahead. */
export function aTaskBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const executeAt = new Date(Date.now() + 3_600_000).toISOString()
  return { name: 'A task', url: 'https://example.com/hook', method: 'POST', execute_at: executeAt, ...changes }
}
