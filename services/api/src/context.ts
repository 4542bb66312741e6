import { createPrisma, type Prisma } from '@belfry/db/postgres/create-prisma'
import { type DatabaseClock, openDatabaseClock } from '@belfry/db/postgres/database-clock'
import { openPool, type Pool } from '@belfry/db/postgres/pool'
import { waitForDatabase } from '@belfry/db/postgres/retry-database'
import { findMasterKeyProblem } from '@belfry/db/secrets/data-keys'
import { type CountedInWorkspace, readUsage } from '@belfry/db/usage/read-usage'
import { type ObjectStorage, openObjectStorage } from '@belfry/object-storage'
import { type DispatchQueue, openQueue, type QueueConnection } from '@belfry/queue'
import type { BoardQueues } from '@belfry/queue/board'
import { ConfigError, type Host, type Logger, openMeter, type Tracing, type VirtualClock } from '@belfry/runtime'
import type { LimitFunction } from 'p-limit'
import pLimit from 'p-limit'
import { type ApiKeyCache, createApiKeyCache, createRejectedKeys, type RejectedKeys } from './auth/api-key.ts'
import { createRateLimits, type RateLimits } from './auth/rate-limits.ts'
import { openStripeBilling, type StripeBilling } from './billing/stripe/stripe-billing.ts'
import { type Config, hasOperators } from './config.ts'
import { type Metrics, openMetrics } from './metrics.ts'
import { type OidcProvider, openOidcProvider } from './oidc/provider.ts'
import { createHeadrooms, type Headrooms } from './quotas/headroom.ts'
import { createUsageCache, type UsageCache } from './quotas/quotas.ts'
import { openReadReplica, type ReadReplica } from './read-replica.ts'
import { createRunTails, type RunTails } from './runs/stream/follow-runs.ts'
import { type InsertBatches, openInsertBatches } from './tasks/store-tasks.ts'

/** An open stream of runs, and its holder. */
export type RunStream = { credential: string; organizationId: string; end: AbortController }

/** Everything that an endpoint needs. */
export type Context = {
  config: Config
  log: Logger
  /** For accounts. */
  prisma: Prisma
  /** For tasks and runs. */
  pool: Pool
  /** Never a replica. */
  primary: Pool
  /** Null when lists are read from the primary. */
  readReplica: ReadReplica | null
  clock: DatabaseClock
  /** Null without a Redis: dispatchers find due tasks in PostgreSQL. */
  queue: DispatchQueue | null
  /** Null when no operators are configured, or without a Redis. */
  boardQueues: BoardQueues | null
  apiKeys: ApiKeyCache
  rejectedKeys: RejectedKeys
  rateLimits: RateLimits
  usageCache: UsageCache
  headrooms: Headrooms<CountedInWorkspace>
  insertBatches: InsertBatches
  /** Null when tiers are not sold: the choice of an owner applies at once. */
  stripe: StripeBilling | null
  /** Null where users sign in with passwords only. */
  oidc: OidcProvider | null
  /** Orders to read the keys of issuers that are in progress, by the federated credential: each resolves with an error or null. */
  keyOrders: Map<string, Promise<string | null>>
  runTails: RunTails
  /** Open streams of runs; aborted when this process is to stop. */
  runStreams: Set<RunStream>
  /** The workspace and `Idempotency-Key` of each request in progress in this process. */
  keysInProgress: Set<string>
  /** Null when all runs are in PostgreSQL. */
  logStorage: ObjectStorage | null
  /** Limits the parts of the log that are read at once, because each takes time of the processor. */
  partLimit: LimitFunction
  /** Limits the work that holds a connection while it may need another one. */
  transactionLimit: LimitFunction
  /** Work that continues after its response; `closeContext` waits for it. */
  background: Set<Promise<void>>
  metrics: Metrics
  /** Null when traces are not configured. */
  tracing: Tracing | null
  /** Aborted when this process is to stop. */
  stopping: AbortSignal
  /** Only in the build for tests. */
  virtualClock?: VirtualClock
}

const connections = 10

export async function openContext(config: Config, log: Logger, host: Host): Promise<Context> {
  const { stop } = host
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(config.databaseUrl, { name: 'belfry-api', max: connections, onError })
  await waitForDatabase(pool, log, stop)
  const problem = await findMasterKeyProblem(pool, config.masterKeys)
  if (problem !== null) throw new ConfigError([`ENCRYPTION_KEYS: ${problem}`])
  const { queueConnection, queue } = await openQueue(config, onError)
  const metrics = openMetrics(openMeter('api', host.registry))
  return {
    config,
    log,
    prisma: createPrisma(config.databaseUrl, 'belfry-api'),
    pool,
    primary: pool,
    readReplica: openReadReplica(config, pool, onError),
    clock: await openDatabaseClock(pool),
    queue,
    boardQueues: queueConnection && hasOperators(config) ? await openBoard(queueConnection) : null,
    apiKeys: createApiKeyCache(),
    rejectedKeys: createRejectedKeys(),
    rateLimits: createRateLimits(),
    usageCache: createUsageCache((organizationId, tx = pool) => readUsage(tx, organizationId)),
    headrooms: createHeadrooms(),
    insertBatches: openInsertBatches(pool, metrics.created),
    stripe: config.billing && (await openStripeBilling(config.billing)),
    oidc: config.oidc && openOidcProvider(config.oidc, log),
    keyOrders: new Map(),
    runTails: createRunTails(pool, onError),
    runStreams: endOnStop(stop),
    keysInProgress: new Set(),
    logStorage: config.logStorage && openObjectStorage(config.logStorage),
    partLimit: pLimit(2),
    transactionLimit: pLimit(connections - 4),
    background: new Set(),
    metrics,
    tracing: host.tracing?.of('api') ?? null,
    stopping: stop,
    ...(__VIRTUAL_CLOCK__ && host.virtualClock && { virtualClock: host.virtualClock }),
  }
}

async function openBoard(connection: QueueConnection): Promise<BoardQueues> {
  const { openBoardQueues } = await import('@belfry/queue/board')
  return openBoardQueues(connection)
}

/** Waits for work in the background, and closes all connections. */
export async function closeContext(ctx: Context) {
  const { background, queue, prisma, boardQueues, pool, readReplica, logStorage } = ctx
  await Promise.all(background)
  await Promise.all([queue?.close(), prisma.$disconnect()])
  await boardQueues?.close()
  await Promise.all([logStorage?.close(), pool.end(), readReplica?.replica.pool.end()])
}

function endOnStop(stop: AbortSignal): Set<RunStream> {
  const streams = new Set<RunStream>()
  stop.addEventListener('abort', () => {
    for (const stream of streams) stream.end.abort()
  })
  return streams
}
