import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { type Child, repositoryRoot, startChild } from './child-process.ts'
import type { Database } from './database.ts'
import type { Lab } from './lab.ts'

export type ServiceName = 'api' | 'scheduler' | 'dispatcher' | 'all-in-one'

/**
 * Belfry's processes as they are bundled for production. All settings that a round does not name are the defaults. Its
 * disposal sends SIGTERM, so everything in flight is finished.
 */
export type Belfry = AsyncDisposable & { port: number; pids: number[] }

export type BelfryOptions = {
  services: ServiceName[]
  /** The most calls in parallel in each dispatcher. */
  concurrency?: number
  /** Null runs without Redis. Default: the lab's Redis. */
  redisUrl?: string | null
  /** The checkout whose bundles run. Default: this one. */
  root?: string | undefined
  /** The Node that runs it. Default: that of this process. */
  node?: string
}

// Always the same: a database that is kept between runs holds keys that are encrypted with it.
const masterKey = `k1:${Buffer.alloc(32, 'bench').toString('base64')}`

export async function startBelfry(
  lab: Lab,
  database: Database,
  { services, concurrency = 200, redisUrl = lab.redis.url, root = repositoryRoot, node }: BelfryOptions,
): Promise<Belfry> {
  const port = await freePort()
  const env = {
    DATABASE_URL: database.url,
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
    PORT: String(port),
    METRICS_PORT: '0',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: masterKey,
    // Every request is counted, and no benchmark reaches the limit.
    TIERS: JSON.stringify({ unicorn: { requests_per_second: 1_000_000 } }),
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DISPATCH_CONCURRENCY: String(concurrency),
    // All calls go to one target, so the default limit per host would be the bottleneck.
    HOST_CONCURRENCY: String(concurrency),
  }
  const start = (name: ServiceName): Promise<Child> => {
    const nodeFlags = lab.profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${join(lab.profileFolder, name)}`] : []
    const program = join(root, name === 'all-in-one' ? 'programs' : 'services', name, 'dist/main.mjs')
    return startChild(program, { env, node, nodeFlags, logFile: join(lab.folder, `${name}.log`) })
  }
  const children = await Promise.all(services.map(start))
  return {
    port,
    pids: children.map(({ pid }) => pid),
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(child => child[Symbol.asyncDispose]()))
    },
  }
}
