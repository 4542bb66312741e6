import {
  type DatabaseClock,
  type InsertedTask,
  insertTasks,
  isTransientDatabaseError,
  type NewTask,
  openDatabaseClock,
  openPool,
  type Pool,
  stepPromotionBack,
  waitForDatabase,
} from '@belfry/db'
import { createPrisma, type Prisma } from '@belfry/db/prisma'
import { type DispatchQueue, type DueTask, isSoon, openDispatchQueue } from '@belfry/queue'
import { type Logger, microBatch } from '@belfry/runtime'
import { type ApiKeyCache, createApiKeyCache } from './auth/api-key-cache.ts'
import { createRateLimits, type RateLimits } from './auth/rate-limits.ts'
import type { Config } from './config.ts'
import { createRunTails, type RunTails } from './run-stream/run-tails.ts'

/** Everything that an endpoint needs. */
export type Context = {
  config: Config
  log: Logger
  /** For accounts. */
  prisma: Prisma
  /** For tasks and runs. */
  pool: Pool
  clock: DatabaseClock
  queue: DispatchQueue
  apiKeys: ApiKeyCache
  rateLimits: RateLimits
  runTails: RunTails
  /** Aborted when this process is to stop. */
  stopping: AbortSignal
  /** Streams that are open; aborted then. */
  runStreams: Set<AbortController>
  /** `insertTasks`, many creates to a statement. */
  insertTask(task: NewTask): Promise<InsertedTask>
  /** Adds jobs for what is due soon, after the answer: nothing that a caller was told depends on it. */
  enqueue(tasks: DueTask[], now: number): void
  close(): Promise<void>
}

export async function openContext(config: Config, log: Logger, stop: AbortSignal): Promise<Context> {
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(config.databaseUrl, { max: 10, onError })
  await waitForDatabase(pool, error => log.warn({ err: error }, 'database.waiting'), stop)
  const prisma = createPrisma(config.databaseUrl)
  const queue = openDispatchQueue({ redisUrl: config.redisUrl, databaseUrl: config.databaseUrl, onError })
  const adding = new Set<Promise<void>>()

  async function add(tasks: DueTask[], now: number): Promise<void> {
    try {
      await queue.schedule(tasks, now)
    } catch (error) {
      log.warn({ err: error }, 'queue.away')
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
    apiKeys: createApiKeyCache(),
    rateLimits: createRateLimits(),
    runTails: createRunTails(pool, onError),
    stopping: stop,
    runStreams: endOnStop(stop),
    insertTask: microBatch({
      maxSize: 100,
      maxInFlight: 2,
      run: async tasks => {
        const rows = new Map((await insertTasks(pool, tasks)).map(row => [row.id, row]))
        return tasks.flatMap(({ id }) => rows.get(id) ?? [])
      },
      split: error => !isTransientDatabaseError(error),
    }),
    enqueue(tasks, now) {
      const soon = tasks.filter(task => isSoon(task.dueAt, now))
      if (soon.length === 0) return
      const added = add(soon, now).finally(() => adding.delete(added))
      adding.add(added)
    },
    async close() {
      await Promise.all(adding)
      await Promise.all([queue.close(), prisma.$disconnect()])
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
