import { randomBytes } from 'node:crypto'
import { freePort } from '@belfry/embedded'
import { createTestDatabase } from '@belfry/test-support'
import { type Answer, type Caller, callApi, signUp } from '../api-calls.ts'
import { startService } from '../processes.ts'

/** All services in one process with a virtual clock. */
export type VirtualBelfry = {
  url: string
  databaseUrl: string
  /** What the services have logged. */
  readonly output: string
  caller: Caller
  call(method: string, path: string, body?: unknown, as?: Caller): Promise<Answer>
  /** Moves the clock with `freeze`, `advance`, `run-until-idle` or `reset`. Returns its time in epoch milliseconds. */
  clock(action: string, body?: object): Promise<number>
  close(): Promise<void>
}

export async function startVirtualBelfry(env: Record<string, string> = {}): Promise<VirtualBelfry> {
  const database = await createTestDatabase()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const service = await startService('all-in-one', { ...virtualEnvironment(database.url, port), ...env }, 'testing.mjs')
  const caller = await signUp(url)
  const call: VirtualBelfry['call'] = (method, path, body, as = caller) => callApi(url, as, method, path, body)
  return {
    url,
    databaseUrl: database.url,
    get output() {
      return service.output
    },
    caller,
    call,
    async clock(action, body = {}) {
      const { status, body: clock } = await call('POST', `/api/test/clock/${action}`, body, {})
      if (status !== 200) throw new Error(`${action} failed with ${status}: ${JSON.stringify(clock)}`)
      return Date.parse(clock.now)
    },
    async close() {
      await service.stop('SIGKILL')
      await database.drop()
    },
  }
}

export function virtualEnvironment(databaseUrl: string, port: number): Record<string, string> {
  return {
    VIRTUAL_CLOCK: 'on',
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    METRICS_PORT: '0',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    REGISTRATION: 'open',
    TIER_CHANGES: 'owner',
    DEFAULT_TIER: 'unicorn',
    TIERS: JSON.stringify({ free: { executions: 2 } }),
    LOG_LEVEL: 'warn',
  }
}
