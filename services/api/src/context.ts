import {
  type CountedInWorkspace,
  type DatabaseClock,
  findMasterKeyProblem,
  openDatabaseClock,
  openPool,
  type Pool,
  readUsage,
  stepPromotionBack,
  waitForDatabase,
  warnOfUnfitDatabase,
} from '@belfry/db'
import { createPrisma, type Prisma } from '@belfry/db/prisma'
import {
  type DeadLetterQueue,
  type DispatchQueue,
  type DueTask,
  needsJob,
  openDeadLetterQueue,
  openDispatchQueue,
} from '@belfry/queue'
import { type BoardQueues, openBoardQueues } from '@belfry/queue/board'
import { ConfigError, type Host, type Logger, openMeter, type Tracing } from '@belfry/runtime'
import { type ApiKeyCache, createApiKeyCache } from './auth/api-key-cache.ts'
import { createFailedKeys, type FailedKeys } from './auth/failed-keys.ts'
import { limitParallel } from './auth/limit-parallel.ts'
import { createRateLimits, type RateLimits } from './auth/rate-limits.ts'
import type { BillingProvider } from './billing/billing-provider.ts'
import { manualBilling } from './billing/manual-billing.ts'
import { openStripeBilling } from './billing/stripe/open-stripe-billing.ts'
import type { Config } from './config.ts'
import { type Metrics, openMetrics } from './metrics.ts'
import { createQuotaStandings, type QuotaStandings } from './quotas/quota-standings.ts'
import { createRooms, type Rooms } from './quotas/rooms.ts'
import { createRunTails, type RunTails } from './run-stream/run-tails.ts'
import { type InsertBatches, openInsertBatches } from './tasks/insert-batches.ts'

/** Everything that an endpoint needs. */
export type Context = InsertBatches & {
  config: Config
  log: Logger
  /** For accounts. */
  prisma: Prisma
  /** For tasks and runs. */
  pool: Pool
  clock: DatabaseClock
  /** Null when there is no Redis: dispatchers find what is due in PostgreSQL. */
  queue: DispatchQueue | null
  deadLetters: DeadLetterQueue | null
  apiKeys: ApiKeyCache
  failedKeys: FailedKeys
  quotaStandings: QuotaStandings
  rooms: Rooms<CountedInWorkspace>
  billing: BillingProvider
  rateLimits: RateLimits
  runTails: RunTails
  /** Null when there are no operators, or no Redis. */
  boardQueues: BoardQueues | null
  metrics: Metrics
  /** Null when nobody asks for traces. */
  tracing: Tracing | null
  /** Aborted when this process is to stop. */
  stopping: AbortSignal
  /** Streams that are open; aborted then. */
  runStreams: Set<AbortController>
  /** The `Idempotency-Key`s, each behind its workspace, of the requests that this process is working on. */
  keysInProgress: Set<string>
  /** Waits for one of a few places: for work that holds a connection while it may need another one. */
  inLine: <T>(work: () => Promise<T>) => Promise<T>
  /** Adds jobs for what will soon be due, after the answer: nothing that a caller was told depends on it. */
  enqueue(tasks: DueTask[], now: number): void
  /** Takes tasks out of the operators' copy of the dead-letter list, after the answer. */
  hideDeadLetters(taskIds: string[]): void
  close(): Promise<void>
}

const connections = 10

export async function openContext(config: Config, log: Logger, host: Host): Promise<Context> {
  const { stop } = host
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(config.databaseUrl, { max: connections, onError })
  await waitForDatabase(pool, error => log.warn({ err: error }, 'database.waiting'), stop)
  await warnOfUnfitDatabase(pool, log)
  const problem = await findMasterKeyProblem(pool, config.masterKeys)
  if (problem !== null) throw new ConfigError([`ENCRYPTION_KEYS: ${problem}`])
  const prisma = createPrisma(config.databaseUrl)
  const { redisUrl } = config
  const connection = redisUrl === null ? null : { redisUrl, shards: config.queueShards, onError }
  const queue = connection && openDispatchQueue(connection)
  const deadLetters = connection && openDeadLetterQueue(connection)
  const boardQueues = connection && config.operatorPassword !== null ? openBoardQueues(connection) : null
  const metrics = openMetrics(openMeter('api', host.registry))
  const tracing = host.tracing?.of('api') ?? null
  const underWay = new Set<Promise<void>>()

  function afterAnswer(work: Promise<void>): void {
    const settled = work.finally(() => underWay.delete(settled))
    underWay.add(settled)
  }

  async function add(queue: DispatchQueue, tasks: DueTask[], now: number): Promise<void> {
    try {
      await queue.schedule(tasks, now)
    } catch (error) {
      log.warn({ err: error }, 'queue.away')
      metrics.queueAway()
      await stepPromotionBack(pool).catch(onError)
    }
  }

  return {
    config,
    log,
    prisma,
    pool,
    clock: await openDatabaseClock(pool),
    queue,
    deadLetters,
    apiKeys: createApiKeyCache(),
    failedKeys: createFailedKeys(),
    quotaStandings: createQuotaStandings((organizationId, db = pool) => readUsage(db, organizationId)),
    rooms: createRooms(),
    billing: config.billing ? await openStripeBilling(config.billing) : manualBilling,
    rateLimits: createRateLimits(),
    runTails: createRunTails(pool, onError),
    boardQueues,
    metrics,
    tracing,
    stopping: stop,
    runStreams: endOnStop(stop),
    ...openInsertBatches(pool, metrics.created),
    keysInProgress: new Set(),
    inLine: limitParallel({ most: connections - 4, mostWaiting: Number.POSITIVE_INFINITY }),
    enqueue(tasks, now) {
      if (queue === null) return
      const soon = tasks.filter(task => needsJob(task.dueAt, now))
      if (soon.length > 0) afterAnswer(add(queue, soon, now))
    },
    hideDeadLetters(taskIds) {
      if (taskIds.length === 0 || deadLetters === null) return
      afterAnswer(deadLetters.remove(taskIds).catch(err => log.warn({ err }, 'dead_letter.still_shown')))
    },
    async close() {
      await Promise.all(underWay)
      await Promise.all([queue?.close(), deadLetters?.close(), prisma.$disconnect()])
      await boardQueues?.close()
      await pool.end()
    },
  }
}

function endOnStop(stop: AbortSignal): Set<AbortController> {
  const streams = new Set<AbortController>()
  stop.addEventListener('abort', () => {
    for (const stream of streams) stream.abort()
  })
  return streams
}
