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
} from '@belfry/db'
import { createPrisma, type Prisma } from '@belfry/db/prisma'
import {
  type DeadLetterQueue,
  type DispatchQueue,
  type DueTask,
  isSoon,
  type OutboxJob,
  openDeadLetterQueue,
  openDispatchQueue,
  openOutboxQueue,
} from '@belfry/queue'
import { type BoardQueues, openBoardQueues } from '@belfry/queue/board'
import { ConfigError, type Logger, openMeter, openTracing, type Tracing } from '@belfry/runtime'
import { type ApiKeyCache, createApiKeyCache } from './auth/api-key-cache.ts'
import { createFailedKeys, type FailedKeys } from './auth/failed-keys.ts'
import { limitParallel } from './auth/limit-parallel.ts'
import { createRateLimits, type RateLimits } from './auth/rate-limits.ts'
import type { BillingProvider } from './billing/billing-provider.ts'
import { manualBilling } from './billing/manual-billing.ts'
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
  queue: DispatchQueue
  deadLetters: DeadLetterQueue
  apiKeys: ApiKeyCache
  failedKeys: FailedKeys
  quotaStandings: QuotaStandings
  rooms: Rooms<CountedInWorkspace>
  billing: BillingProvider
  rateLimits: RateLimits
  runTails: RunTails
  /** Null when there are no operators. */
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
  /** Adds jobs for what is due soon, after the answer: nothing that a caller was told depends on it. */
  enqueue(tasks: DueTask[], now: number): void
  /** Takes tasks out of the operators' copy of the dead-letter list, after the answer. */
  hideDeadLetters(taskIds: string[]): void
  /** Has messages sent that were just stored, after the answer: without it they leave some seconds later. */
  announce(messages: OutboxJob[]): void
  close(): Promise<void>
}

const connections = 10

export async function openContext(config: Config, log: Logger, stop: AbortSignal): Promise<Context> {
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(config.databaseUrl, { max: connections, onError })
  await waitForDatabase(pool, error => log.warn({ err: error }, 'database.waiting'), stop)
  const problem = await findMasterKeyProblem(pool, config.masterKeys)
  if (problem !== null) throw new ConfigError(`The configuration is wrong:\n  ENCRYPTION_KEYS: ${problem}`)
  const prisma = createPrisma(config.databaseUrl)
  const connection = {
    redisUrl: config.redisUrl,
    shards: config.queueShards,
    databaseUrl: config.databaseUrl,
    onError,
  }
  const queue = openDispatchQueue(connection)
  const deadLetters = openDeadLetterQueue(connection)
  const boardQueues = config.operatorPassword === null ? null : openBoardQueues(connection)
  const outboxQueue = openOutboxQueue(connection)
  const metrics = openMetrics(openMeter('api'))
  const tracing = config.traces ? await openTracing('api', log) : null
  const underWay = new Set<Promise<void>>()

  function afterAnswer(work: Promise<void>): void {
    const settled = work.finally(() => underWay.delete(settled))
    underWay.add(settled)
  }

  async function add(tasks: DueTask[], now: number): Promise<void> {
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
    billing: manualBilling,
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
      const soon = tasks.filter(task => isSoon(task.dueAt, now))
      if (soon.length > 0) afterAnswer(add(soon, now))
    },
    hideDeadLetters(taskIds) {
      if (taskIds.length === 0) return
      afterAnswer(deadLetters.remove(taskIds).catch(err => log.warn({ err }, 'dead_letter.still_shown')))
    },
    announce(messages) {
      afterAnswer(outboxQueue.announce(messages).catch(err => log.warn({ err }, 'queue.away')))
    },
    async close() {
      await Promise.all(underWay)
      await Promise.all([queue.close(), deadLetters.close(), outboxQueue.close(), prisma.$disconnect()])
      await boardQueues?.close()
      await pool.end()
      await tracing?.close()
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
