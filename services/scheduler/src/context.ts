import { openDatabaseClock } from '@belfry/db/postgres/database-clock'
import { openPool } from '@belfry/db/postgres/pool'
import { waitForDatabase } from '@belfry/db/postgres/retry-database'
import { openObjectStorage } from '@belfry/object-storage'
import { type DispatchQueue, openQueue } from '@belfry/queue'
import { type Host, type Logger, openMeter } from '@belfry/runtime'
import type { Config } from './config.ts'
import { createLiveness } from './liveness.ts'
import { openMetrics } from './metrics.ts'

// One for each chore that keeps work on time, and two for health checks and metrics.
const connections = 6
const backgroundConnections = 4

export type Context = Awaited<ReturnType<typeof openContext>>

/** The context of the chores of BullMQ's queues. */
export type QueueContext = Context & { queue: DispatchQueue }

export function hasQueue(ctx: Context): ctx is QueueContext {
  return ctx.queue !== null
}

export async function openContext(config: Config, log: Logger, host: Host) {
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(config.databaseUrl, { name: 'belfry-scheduler', max: connections, onError })
  const backgroundPool = openPool(config.databaseUrl, { name: 'belfry-scheduler', max: backgroundConnections, onError })
  await waitForDatabase(pool, log, host.stop)
  const { queue } = await openQueue(config, onError)
  const logStorage = config.logStorage && {
    objects: openObjectStorage(config.logStorage.place),
    hotDays: config.logStorage.hotDays,
  }
  const { tiers, publicUrl, auditLogFile, legalHold } = config
  return {
    log,
    tiers,
    /** Null when `PUBLIC_URL` is not set. */
    publicUrl,
    /** The file that receives all audit entries; `-` is standard output. Null without one. */
    auditLogFile,
    /** For the chores that keep work on time. */
    pool,
    /** For all other chores, some of which are slow. */
    backgroundPool,
    clock: await openDatabaseClock(pool),
    /** Null without Redis: dispatchers then find due tasks in PostgreSQL. */
    queue,
    /** Where the log moves, and for how many full days runs stay in PostgreSQL. Null when all runs stay there. */
    logStorage,
    /** Organizations whose logs are exempt from retention. */
    legalHold,
    metrics: openMetrics(openMeter('scheduler', host.registry)),
    liveness: createLiveness(() => performance.now()),
    async close(): Promise<void> {
      await Promise.all([queue?.close(), logStorage?.objects.close()])
      await Promise.all([pool.end(), backgroundPool.end()])
    },
  }
}
