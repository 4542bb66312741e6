import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { createTestDatabase, serviceUrl } from '@belfry/test-support'
import { startRedis } from '@belfry/test-support/servers'
import pg from 'pg'
import { type Answer, type Caller, callApi, signUp } from './api-calls.ts'
import { type ProgramName, type RunningService, startService } from './processes.ts'

export type QueueBackend = 'redis' | 'postgres'

/** A whole installation: a database, a queue, the real processes, and an account. */
export type Belfry = {
  url: string
  databaseUrl: string
  redisUrl: string | null
  services: RunningService[]
  /** The API key of a workspace, and the session of its owner. */
  caller: Caller
  /** Calls the API. Default: as `caller`. */
  call(method: string, path: string, body?: unknown, as?: Caller): Promise<Answer>
  start(name: ProgramName, env?: Record<string, string>): Promise<RunningService>
  /** Creates another user with an organization and a workspace. */
  anotherCaller(): Promise<Caller>
  /** Stops the Redis of the queue. */
  stopRedis(): Promise<void>
  /** Runs a statement on the database, and returns its rows. */
  execute(statement: string): Promise<Array<Record<string, unknown>>>
  close(): Promise<void>
}

/** Starts an installation on a backend of the queue: an API, a scheduler and a dispatcher, each with its database role. */
export async function startBelfry(
  backend: QueueBackend,
  options: { services?: ProgramName[]; env?: Record<string, string>; hostname?: string } = {},
): Promise<Belfry> {
  const database = await createTestDatabase()
  const port = await freePort()
  const url = `http://${options.hostname ?? '127.0.0.1'}:${port}`
  const redis = backend === 'redis' ? await startPrivateRedis() : null
  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    ...(redis ? { REDIS_URL: redis.url } : {}),
    PORT: String(port),
    METRICS_PORT: '0',
    PUBLIC_URL: url,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    // Tests need more than the one account that may register by default, and have no operator.
    REGISTRATION: 'open',
    TIER_CHANGES: 'owner',
    DEFAULT_TIER: 'unicorn',
    ...options.env,
  }
  const services: RunningService[] = []
  const start = async (name: ProgramName, more: Record<string, string> = {}) => {
    const service = await startService(name, { ...env, DATABASE_URL: serviceUrl(database.url, name), ...more })
    services.push(service)
    return service
  }
  await Promise.all((options.services ?? (['api', 'scheduler', 'dispatcher'] as const)).map(name => start(name)))
  const caller = await signUp(url)
  return {
    url,
    databaseUrl: database.url,
    redisUrl: redis?.url ?? null,
    services,
    caller,
    start,
    call: (method, path, body, as = caller) => callApi(url, as, method, path, body),
    anotherCaller: () => signUp(url),
    stopRedis: async () => redis?.stop(),
    execute: statement => execute(database.url, statement),
    async close() {
      await Promise.all(services.map(service => service.stop('SIGKILL')))
      await redis?.stop()
      await database.drop()
    },
  }
}

async function execute(databaseUrl: string, statement: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

async function startPrivateRedis() {
  const dataDir = await mkdtemp(join(tmpdir(), 'belfry-redis-'))
  const redis = await startRedis({ dataDir, persist: false })
  return {
    url: redis.url,
    async stop() {
      await redis.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
