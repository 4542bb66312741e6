import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { type Child, repositoryRoot, startChild } from './child-process.ts'
import type { Database } from './database.ts'
import type { Lab } from './lab.ts'

export type ServiceName = 'api' | 'scheduler' | 'dispatcher' | 'all-in-one'

/** Belfry's processes as they are bundled for production. All settings that a round does not name are the defaults. */
export type Belfry = {
  apiUrl: string
  /** The processes of one kind. */
  pids(name: ServiceName): number[]
  /** Sends SIGTERM, so everything in flight is finished. */
  stop(): Promise<void>
}

export type BelfryOptions = {
  services: ServiceName[]
  /** The most calls in parallel in each dispatcher. */
  concurrency?: number
  /** Null runs without Redis. Default: the lab's Redis. */
  redisUrl?: string | null | undefined
  /** The Node that runs it. Default: that of this process. */
  node?: string
  /** More variables. */
  env?: Record<string, string>
}

// Always the same: a database that is kept between runs holds keys that are encrypted with it.
const masterKey = `k1:${Buffer.alloc(32, 'bench').toString('base64')}`

export async function startBelfry(
  lab: Lab,
  database: Pick<Database, 'url'>,
  { services, concurrency = 200, redisUrl = lab.redis.url, node, env: more = {} }: BelfryOptions,
): Promise<Belfry> {
  const port = await freePort()
  const apiUrl = `http://127.0.0.1:${port}`
  const env = {
    DATABASE_URL: database.url,
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    PORT: String(port),
    METRICS_PORT: '0',
    PUBLIC_URL: apiUrl,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: masterKey,
    // Every request is counted, and no benchmark reaches the limit.
    TIERS: JSON.stringify({ unicorn: { requests_per_second: 1_000_000 } }),
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    REGISTRATION: 'open', // further accounts register without an invitation
    DEFAULT_TIER: 'unicorn',
    DISPATCH_CONCURRENCY: String(concurrency),
    // All calls go to one target, so the default limit per host would be the bottleneck.
    HOST_CONCURRENCY: String(concurrency),
    ...more,
  }
  const start = (name: ServiceName): Promise<Child> => {
    const nodeFlags = lab.profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${join(lab.profileFolder, name)}`] : []
    const program = join(repositoryRoot, 'services', name, 'dist/main.mjs')
    return startChild(program, { env, node, nodeFlags, logFile: join(lab.folder, `${name}.log`) })
  }
  const running = await Promise.all(services.map(async name => ({ name, child: await start(name) })))
  return {
    apiUrl,
    pids: wanted => running.flatMap(({ name, child }) => (name === wanted ? [child.pid] : [])),
    stop: async () => void (await Promise.all(running.map(({ child }) => child.stop()))),
  }
}

/** Creates an account through the API, and returns an API key of its workspace. */
export async function createApiKey(apiUrl: string): Promise<string> {
  const account = { email: `${randomBytes(6).toString('hex')}@example.com`, password: randomBytes(12).toString('hex') }
  const { token } = await post(apiUrl, '/auth/register', { ...account, name: 'Bench' })
  const organization = await post(apiUrl, '/organizations', { name: 'Bench' }, token)
  const workspace = await post(apiUrl, `/organizations/${organization.id}/workspaces`, { name: 'Main' }, token)
  const { key } = await post(apiUrl, `/workspaces/${workspace.id}/api-keys`, { name: 'Bench' }, token)
  return key ?? ''
}

async function post(apiUrl: string, path: string, body: unknown, token?: string): Promise<Record<string, string>> {
  const response = await fetch(`${apiUrl}/api/v1${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`POST ${path} was answered with ${response.status}.`)
  return (await response.json()) as Record<string, string> // the members that are read are strings
}
