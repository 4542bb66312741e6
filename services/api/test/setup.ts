import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { openPool, type Pool } from '@belfry/db/postgres/pool'
import type { TierName } from '@belfry/domain/tiers'
import { createLogger, openHost } from '@belfry/runtime'
import { createTestDatabase, serviceUrl } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll } from 'vitest'
import { createApp } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import { type Context, closeContext, openContext } from '../src/context.ts'
import { createApiServer } from '../src/http/api-server.ts'
import { anOrganization } from './organization.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
export type Json = any
export type Answer = { status: number; headers: Headers; text: string; body: Json }

/** Returns the status of an answer, or of the last row of its batch if that was refused. */
export const lastStatus = ({ status, body }: Pick<Answer, 'status' | 'body'>): number =>
  body?.data?.at?.(-1)?.error?.status ?? status

export type Caller = { apiKey: string; token: string; workspaceId: string; organizationId: string; email: string }

type Environment = Record<string, string>

/** Variables, or a function for those that depend on the database. */
type Settings = Environment | ((databaseUrl: string) => Promise<Environment> | Environment)

/** An API in this process, with its own database. */
type RunningApi = { url: string; ctx: Context; db: Pool; close(): Promise<void> }

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
  /** Makes an account that owns an organization with a workspace and an API key, without requests and with a cheap hash. */
  signUp(): Promise<Caller>
  /** Returns the number of rows of a table. */
  count(table: string): Promise<number>
}

// The APIs of this worker, which end with its process.
const shared = new Map<string, Promise<RunningApi>>()
let addresses = 0

/**
 * Runs the API in this process. Files with equal settings share it and its database; each has its own account and address.
 * @param settings - Variables that are different, or a function for those that depend on the database. Default: none.
 * @param isAlone - Whether the API and its database are this file's own. Default: only if `settings` is a function.
 * @param signsUp - Whether the API has a first user, `caller`. Default: yes.
 * @param tier - The tier of organizations that sign up here. Default: the API's tier of new organizations.
 */
export function useApi(
  settings: Settings = {},
  {
    isAlone = typeof settings === 'function',
    signsUp = true,
    tier,
  }: { isAlone?: boolean; signsUp?: boolean; tier?: TierName } = {},
): TestApi {
  let running: RunningApi
  let caller: Caller
  addresses += 1
  const address = `100.64.${addresses >> 8}.${addresses & 255}`

  beforeAll(async () => {
    running = await (isAlone ? startApi(settings) : share(settings))
    if (signsUp) caller = await api.signUp()
  })
  if (isAlone) afterAll(() => running?.close())

  const api: TestApi = {
    get url() {
      return running.url
    },
    get ctx() {
      return running.ctx
    },
    get db() {
      return running.db
    },
    get caller() {
      return caller
    },
    async send(method, path, body, headers = {}) {
      const raw = typeof body === 'string' || body instanceof Uint8Array
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
      const response = await fetch(running.url + path, {
        method,
        headers: { 'X-Forwarded-For': address, ...type, ...headers },
        ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: /[/+]json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : undefined,
      }
    },
    call: (method, path, body) => api.send(method, path, body, { 'X-Api-Key': caller.apiKey }),
    async signUp() {
      const { id, workspaceId, owner, apiKey } = await anOrganization(api, tier ?? running.ctx.config.defaultTier)
      const { 'X-Api-Key': key } = await apiKey()
      return { organizationId: id, workspaceId, apiKey: key, token: owner.token, email: owner.email }
    },
    async count(table) {
      const { rows } = await running.db.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`)
      return rows[0]?.n ?? 0
    },
  }
  return api
}

function share(settings: Settings): Promise<RunningApi> {
  const key = JSON.stringify(settings)
  const known = shared.get(key) ?? startApi(settings)
  shared.set(key, known)
  return known
}

async function startApi(settings: Settings): Promise<RunningApi> {
  const database = await createTestDatabase()
  const db = openPool(database.url, { max: 10, onError: () => {} })
  const config = loadConfig({
    DATABASE_URL: serviceUrl(database.url, 'api'),
    JWT_SECRET: 'a secret of thirty-two characters or more',
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    PUBLIC_URL: 'http://belfry.test',
    ALLOWED_PRIVATE_TARGETS: '10.1.0.0/16',
    REGISTRATION: 'open', // by default only the first account registers, and each test has an account of its own
    DEFAULT_TIER: 'unlimited', // not the default with open registration
    TIER_CHANGES: 'owner', // not the default: there is no operator here who could choose a tier
    TRUST_PROXY: 'loopback', // not the default: each file calls from its own address, because addresses have limits
    ...(typeof settings === 'function' ? await settings(database.url) : settings),
  })
  const log = createLogger('api', 'silent')
  const host = await openHost(log, new AbortController().signal, {
    roles: ['api'],
    operatorListen: null,
    traces: false,
  })
  const ctx = await openContext(config, log, host)
  const app = createApp(ctx, { database: async () => {}, ...(ctx.queue && { queue: ctx.queue.ping }) })
  const server = createApiServer(ctx, app)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ctx,
    db,
    async close() {
      server.close()
      server.closeAllConnections()
      await closeContext(ctx)
      await db.end()
      await database.drop()
    },
  }
}

/**
 * Sends requests at once, again and again until one is refused for their number, and returns all answers: on a busy machine a
 * burst takes as long as its limit needs to recover.
 */
export async function burstUntilRefused(count: number, send: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  const burst = async () => answers.push(...(await Promise.all(Array.from({ length: count }, send))))
  await waitFor(burst, () => answers.some(({ status }) => status === 429))
  return answers
}

/** Returns a body that creates a task an hour ahead. */
export function aTaskBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const executeAt = new Date(Date.now() + 3_600_000).toISOString()
  return { name: 'A task', url: 'https://example.com/hook', method: 'POST', execute_at: executeAt, ...changes }
}
