import { openPool, type Pool, waitForDatabase } from '@belfry/db'
import type { Tiers } from '@belfry/domain'
import {
  type DeadLetterQueue,
  type DispatchQueue,
  type OutboxQueue,
  openDeadLetterQueue,
  openDispatchQueue,
  openOutboxQueue,
} from '@belfry/queue'
import { type Logger, openMeter } from '@belfry/runtime'
import type { Config } from './config.ts'
import { type Metrics, openMetrics } from './metrics.ts'

/** Everything that a chore needs. */
export type Context = {
  log: Logger
  tiers: Tiers
  /** Null when it is not known. */
  publicUrl: string | null
  pool: Pool
  queue: DispatchQueue
  deadLetters: DeadLetterQueue
  outbox: OutboxQueue
  metrics: Metrics
  close(): Promise<void>
}

export async function openContext(config: Config, log: Logger, stop: AbortSignal): Promise<Context> {
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(config.databaseUrl, { max: 4, onError })
  await waitForDatabase(pool, error => log.warn({ err: error }, 'database.waiting'), stop)
  const connection = {
    redisUrl: config.redisUrl,
    shards: config.queueShards,
    databaseUrl: config.databaseUrl,
    onError,
  }
  const queue = openDispatchQueue(connection)
  const deadLetters = openDeadLetterQueue(connection)
  const outbox = openOutboxQueue(connection)
  return {
    log,
    tiers: config.tiers,
    publicUrl: config.publicUrl,
    pool,
    queue,
    deadLetters,
    outbox,
    metrics: openMetrics(openMeter('scheduler')),
    async close() {
      await Promise.all([queue.close(), deadLetters.close(), outbox.close()])
      await pool.end()
    },
  }
}
