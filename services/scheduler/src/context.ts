import {
  type DatabaseClock,
  openDatabaseClock,
  openPool,
  type Pool,
  waitForDatabase,
  warnOfUnfitDatabase,
} from '@belfry/db'
import type { Tiers } from '@belfry/domain'
import { type DeadLetterQueue, type DispatchQueue, openDeadLetterQueue, openDispatchQueue } from '@belfry/queue'
import { type Host, type Logger, openMeter } from '@belfry/runtime'
import type { Config } from './config.ts'
import { createLiveness, type Liveness } from './liveness.ts'
import { type Metrics, openMetrics } from './metrics.ts'

// One for each chore that keeps work in time, and two for the health checks and the metrics.
const connections = 6
const backgroundConnections = 4

/** Everything that a chore needs. */
export type Context = {
  log: Logger
  tiers: Tiers
  /** Null when it is not known. */
  publicUrl: string | null
  /** For what keeps work in time. */
  pool: Pool
  /** For everything else, some of which takes long. */
  backgroundPool: Pool
  clock: DatabaseClock
  /** Null when there is no Redis: dispatchers find what is due in PostgreSQL. */
  queue: DispatchQueue | null
  deadLetters: DeadLetterQueue | null
  metrics: Metrics
  liveness: Liveness
  close(): Promise<void>
}

/** The context of chores that keep BullMQ's queues. */
export type QueueContext = Context & { queue: DispatchQueue; deadLetters: DeadLetterQueue }

export function hasQueue(ctx: Context): ctx is QueueContext {
  return ctx.queue !== null
}

export async function openContext(config: Config, log: Logger, host: Host): Promise<Context> {
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(config.databaseUrl, { max: connections, onError })
  const backgroundPool = openPool(config.databaseUrl, { max: backgroundConnections, onError })
  await waitForDatabase(pool, error => log.warn({ err: error }, 'database.waiting'), host.stop)
  await warnOfUnfitDatabase(pool, log)
  const { redisUrl } = config
  const connection = redisUrl === null ? null : { redisUrl, shards: config.queueShards, onError }
  const queue = connection && openDispatchQueue(connection)
  const deadLetters = connection && openDeadLetterQueue(connection)
  return {
    log,
    tiers: config.tiers,
    publicUrl: config.publicUrl,
    pool,
    backgroundPool,
    clock: await openDatabaseClock(pool),
    queue,
    deadLetters,
    metrics: openMetrics(openMeter('scheduler', host.registry)),
    liveness: createLiveness(() => performance.now()),
    async close() {
      await Promise.all([queue?.close(), deadLetters?.close()])
      await Promise.all([pool.end(), backgroundPool.end()])
    },
  }
}
