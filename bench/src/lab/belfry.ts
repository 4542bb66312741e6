import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { type Child, startChild } from './child-process.ts'
import type { Database } from './database.ts'
import type { Lab } from './lab.ts'
import { repositoryRoot } from './places.ts'

export type ServiceName = 'api' | 'scheduler' | 'dispatcher' | 'all-in-one'

/** Belfry's real processes, as they are bundled for production, with their defaults but for what a round says. */
export type Belfry = {
  apiUrl: string
  /** The processes of one kind. */
  pids(name: ServiceName): number[]
  /** Ends them in order, so that everything in hand is finished. */
  stop(): Promise<void>
}

export type BelfryOptions = {
  services: ServiceName[]
  /** Calls at once in each dispatcher. */
  concurrency?: number
  /** Where the queue is; null puts it into PostgreSQL. Default: the lab's Redis. */
  redisUrl?: string | null | undefined
  /** The Node that runs it. Default: that of this process. */
  node?: string
}

// Always the same: a database that is kept from one run to the next holds keys that are wrapped by it.
const masterKey = `k1:${Buffer.alloc(32, 'bench').toString('base64')}`

export async function startBelfry(
  lab: Lab,
  database: Pick<Database, 'url'>,
  { services, concurrency = 200, redisUrl = lab.servers.redisUrl, node }: BelfryOptions,
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
    // Every request is counted, and no benchmark sends too many.
    TIERS: JSON.stringify({ unicorn: { requests_per_second: 1_000_000 } }),
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DEFAULT_TIER: 'unicorn',
    DISPATCH_CONCURRENCY: String(concurrency),
    // One target stands for all: a limit per host would measure itself.
    HOST_CONCURRENCY: String(concurrency),
  }
  const start = async (name: ServiceName): Promise<[ServiceName, Child]> => {
    const nodeFlags = lab.profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${join(lab.profileFolder, name)}`] : []
    const logFile = join(lab.folder, `${name}.log`)
    return [
      name,
      await startChild(join(repositoryRoot, 'services', name, 'dist/main.mjs'), { env, node, nodeFlags, logFile }),
    ]
  }
  const running = await Promise.all(services.map(start))
  return {
    apiUrl,
    pids: name => running.flatMap(([kind, child]) => (kind === name ? [child.pid] : [])),
    async stop() {
      await Promise.all(running.map(([, child]) => child.stop()))
    },
  }
}
