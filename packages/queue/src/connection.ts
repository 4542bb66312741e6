import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPostgresBackend, createRedisBackend, type Processor, type Queue, type Worker, withBackend } from 'bullmq'
import { Redis } from 'ioredis'

/** Where the queue lives: on Redis when there is one, else on the same PostgreSQL as everything else. */
export type QueueConnection = {
  /** Default null: BullMQ's PostgreSQL backend. */
  redisUrl: string | null
  databaseUrl: string
  /** Key prefix on Redis, so that several installations can share a server. Default `{belfry}`. */
  prefix?: string
  /** Told of every connection error; BullMQ reconnects by itself. */
  onError: (error: Error) => void
}

export type OpenQueue<Data> = {
  bull: Queue<Data>
  /** Null when the queue lives in PostgreSQL. */
  redis: Redis | null
  /** Rejects while the store is away: at once, but for the first moments of a process. */
  reachable(): Promise<void>
  depth(): Promise<QueueDepth>
  close(): Promise<void>
}

/** Jobs that wait for nothing but a consumer, those that one has taken included, and jobs whose time is still to come. */
export type QueueDepth = { ready: number; delayed: number }

const firstConnectionMs = 2_000

/** Opens a producer. It fails fast while the store is away: the row in PostgreSQL is the truth, not the job. */
export function openQueue<Data>(connection: QueueConnection, name: string): OpenQueue<Data> {
  if (connection.redisUrl === null) {
    const { Queue } = withBackend(createPostgresBackend)
    const bull = new Queue<Data>(name, { connection: postgresConnection(connection, 4) }) as unknown as Queue<Data>
    const depth = () => depthOf(bull)
    return {
      bull: observed(bull, connection),
      redis: null,
      reachable: async () => {},
      depth,
      close: () => bull.close(),
    }
  }
  const redis = openRedis(connection.redisUrl, connection, {
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
    socketTimeout: 5_000,
  })
  const { Queue } = withBackend(createRedisBackend)
  const bull = new Queue<Data>(name, { connection: redis, prefix: prefixOf(connection) }) as unknown as Queue<Data>
  const ready = once(redis, 'ready').catch(() => {}) // what goes wrong is told by the status
  const firstConnection = Promise.race([ready, sleep(firstConnectionMs, undefined, { ref: false })])
  return {
    bull: observed(bull, connection),
    redis,
    async reachable() {
      if (redis.status !== 'ready') await firstConnection
      if (redis.status !== 'ready') throw new Error(`The queue is not reachable (${redis.status}).`)
    },
    depth: () => depthOf(bull),
    async close() {
      await bull.close()
      redis.disconnect()
    },
  }
}

/** Opens a consumer. It waits while the store is away. */
export function openWorker<Data>(
  connection: QueueConnection,
  name: string,
  processor: Processor<Data>,
  concurrency: number,
): { bull: Worker<Data>; close(): Promise<void> } {
  // A job is done once its tasks are claimed, so it is short, and it decides nothing: the counters of BullMQ must not
  // end it, and a lost worker's jobs should come back soon.
  const options = {
    concurrency,
    maxStalledCount: 1_000_000,
    stalledInterval: 5_000,
    lockDuration: 15_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  }
  if (connection.redisUrl === null) {
    const { Worker } = withBackend(createPostgresBackend)
    const bull = new Worker<Data>(name, processor, { ...options, connection: postgresConnection(connection, 6) })
    return { bull: observed(bull as unknown as Worker<Data>, connection), close: () => bull.close() }
  }
  const redis = openRedis(connection.redisUrl, connection, {
    maxRetriesPerRequest: null,
    socketTimeout: 15_000, // longer than a worker ever blocks
  })
  const { Worker } = withBackend(createRedisBackend)
  const bull = new Worker<Data>(name, processor, { ...options, connection: redis, prefix: prefixOf(connection) })
  return {
    bull: observed(bull as unknown as Worker<Data>, connection),
    async close() {
      await bull.close()
      redis.disconnect()
    },
  }
}

export function prefixOf(connection: QueueConnection): string {
  return connection.prefix ?? '{belfry}'
}

async function depthOf(bull: Pick<Queue, 'getJobCounts'>): Promise<QueueDepth> {
  const {
    waiting = 0,
    prioritized = 0,
    active = 0,
    delayed = 0,
  } = await bull.getJobCounts(...(['waiting', 'prioritized', 'active', 'delayed'] as const))
  return { ready: waiting + prioritized + active, delayed }
}

function openRedis(
  url: string,
  connection: QueueConnection,
  options: { maxRetriesPerRequest: number | null; commandTimeout?: number; socketTimeout: number },
): Redis {
  const redis = new Redis(url, {
    ...options,
    connectTimeout: 2000,
    retryStrategy: times => Math.min(times * 100, 1000),
  })
  redis.on('error', connection.onError)
  return redis
}

function postgresConnection(connection: QueueConnection, max: number) {
  return { connectionString: connection.databaseUrl, max, migrate: true }
}

function observed<T extends { on(event: 'error', listener: (error: Error) => void): unknown }>(
  bull: T,
  connection: QueueConnection,
): T {
  bull.on('error', connection.onError)
  return bull
}
