import type { Status } from '@belfry/contract/status'
import { createPrisma } from '@belfry/db/postgres/create-prisma'
import { openDatabaseClock } from '@belfry/db/postgres/database-clock'
import { openPool } from '@belfry/db/postgres/pool'
import { waitForDatabase } from '@belfry/db/postgres/retry-database'
import { findMasterKeyProblem } from '@belfry/db/secrets/data-keys'
import { readUsage } from '@belfry/db/usage/read-usage'
import { openObjectStorage } from '@belfry/object-storage'
import { openQueue } from '@belfry/queue'
import { ConfigError, type Host, type Logger, openMeter } from '@belfry/runtime'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { createApiKeyCache, createRejectedKeys } from './auth/api-key.ts'
import { createRateLimits } from './auth/rate-limits.ts'
import { openStripeBilling } from './billing/stripe/stripe-billing.ts'
import { type Config, hasOperators } from './config.ts'
import { openMetrics } from './metrics.ts'
import { openOidcProvider } from './oidc/provider.ts'
import { createHeadrooms } from './quotas/headroom.ts'
import { createUsageCache } from './quotas/quotas.ts'
import { openReadReplica } from './read-replica.ts'
import { createRunTails } from './runs/stream/follow-runs.ts'
import { openInsertBatches } from './tasks/store-tasks.ts'

/** An open stream of runs, and its holder. */
export type RunStream = { credential: string; organizationId: string; end: AbortController }

/** Everything that an endpoint needs. */
export interface Context extends Awaited<ReturnType<typeof openContext>> {}

const connections = 10

export async function openContext(config: Config, log: Logger, host: Host) {
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
    /** For accounts. */
    prisma: createPrisma(config.databaseUrl, 'belfry-api'),
    /** For tasks and runs. */
    pool,
    /** Never a replica. */
    primary: pool,
    /** Null when lists are read from the primary. */
    readReplica: openReadReplica(config, pool, onError),
    clock: await openDatabaseClock(pool),
    /** Null without a Redis: dispatchers find due tasks in PostgreSQL. */
    queue,
    /** Null when no operators are configured, or without a Redis. */
    boardQueues:
      queueConnection && hasOperators(config)
        ? (await import('@belfry/queue/board')).openBoardQueues(queueConnection)
        : null,
    apiKeys: createApiKeyCache(),
    rejectedKeys: createRejectedKeys(),
    rateLimits: createRateLimits(),
    usageCache: createUsageCache((organizationId, tx = pool) => readUsage(tx, organizationId)),
    headrooms: createHeadrooms(),
    insertBatches: openInsertBatches(pool, metrics.created),
    /** Null when tiers are not sold: the choice of an owner applies at once. */
    stripe: config.billing && (await openStripeBilling(config.billing)),
    /** Null where users sign in with passwords only. */
    oidc: config.oidc && openOidcProvider(config.oidc, log),
    /** The readings of issuers' keys in progress, by the federated credential. Each resolves with an error or null. */
    keyOrders: new Map<string, Promise<string | null>>(),
    runTails: createRunTails(pool, onError),
    runStreams: new Set<RunStream>(),
    /** The status of each workspace for a second, because open dashboards ask every few seconds. */
    statuses: new LRUCache<string, Promise<Omit<Status, 'dead_letters'>>>({ max: 1_000, ttl: 1_000 }),
    /** The workspace and `Idempotency-Key` of each request in progress in this process. */
    keysInProgress: new Set<string>(),
    /** Null when all runs are in PostgreSQL. */
    logStorage: config.logStorage && openObjectStorage(config.logStorage),
    /** Limits the parts of the log that are read at once, because each takes time of the processor. */
    partLimit: pLimit(2),
    /** Limits the work that holds a connection while it may need another one. */
    transactionLimit: pLimit(connections - 4),
    /** Work that continues after its response; `closeContext` waits for it. */
    background: new Set<Promise<void>>(),
    metrics,
    /** Null when traces are not configured. */
    tracing: host.tracing?.of('api') ?? null,
    /** Aborted when this process is to stop. */
    stopping: stop,
    /** Only in the build for tests. */
    virtualClock: __VIRTUAL_CLOCK__ ? host.virtualClock : undefined,
  }
}

export async function closeContext(ctx: Context) {
  const { background, queue, prisma, boardQueues, pool, readReplica, logStorage } = ctx
  await Promise.all(background)
  await Promise.all([queue?.close(), prisma.$disconnect()])
  await boardQueues?.close()
  await Promise.all([logStorage?.close(), pool.end(), readReplica?.replica.pool.end()])
}
