import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRedisBackend, type Processor, type Queue, type Worker, withBackend } from 'bullmq'
import type { DispatchJob } from './dispatch-job.ts'
import { openRedis } from './open-redis.ts'
import { shardPrefix } from './shards.ts'

export type QueueConnection = {
  /** The URL of a Redis or a cluster. */
  redisUrl: string
  /** Key prefix on Redis, a hash tag. Several installations can share a server with different ones. Default `{belfry}`. */
  prefix?: string
  /** The number of shards of the dispatch queue. Default 1. */
  shards?: number
  /** Receives every connection error. BullMQ reconnects by itself. */
  onError: (error: Error) => void
}

export const dispatchQueueName = 'dispatch'

/** `ready` counts jobs that wait for a consumer or are with one, `delayed` jobs that are not due yet. */
export type QueueDepth = { ready: number; delayed: number }

const firstConnectionMs = 2_000

/**
 * Opens a producer for every shard of a queue, over one connection. It fails fast while Redis is unreachable: the row in PostgreSQL
 * is the truth, not the job.
 */
export function openShards(connection: QueueConnection) {
  const options = { maxRetriesPerRequest: 1, commandTimeout: 2_000, socketTimeout: 5_000 }
  const redis = openRedis(connection.redisUrl, options, connection.onError)
  const { Queue } = withBackend(createRedisBackend)
  const open = (shard: number) => {
    const prefix = shardPrefix(prefixOf(connection), shard)
    const settings = { connection: redis, prefix }
    const bull = new Queue<DispatchJob>(dispatchQueueName, settings) as unknown as Queue<DispatchJob>
    return bull.on('error', connection.onError)
  }
  const bulls = Array.from({ length: connection.shards ?? 1 }, (_, shard) => open(shard))
  const ready = once(redis, 'ready').catch(() => {}) // the status shows the failure
  const firstConnection = Promise.race([ready, sleep(firstConnectionMs, undefined, { ref: false })])
  return {
    bulls,
    redis,
    /** Rejects at once while Redis is unreachable, after a wait of up to 2 s for the first connection. */
    async reachable(): Promise<void> {
      if (redis.status !== 'ready') await firstConnection
      if (redis.status !== 'ready') throw new Error(`The queue is not reachable (${redis.status}).`)
    },
    depth: (): Promise<QueueDepth> => depthOf(bulls),
    async close(): Promise<void> {
      await Promise.all(bulls.map(bull => bull.close()))
      redis.disconnect()
    },
  }
}

/** Opens what the consumers of the queue's shards share. */
export function openWorkerStore(connection: QueueConnection, processor: Processor<DispatchJob>) {
  // A job ends once the dispatcher has buffered its tasks, so it is short. PostgreSQL decides about the tasks: the counters of BullMQ
  // must not end a job, and a lost worker's jobs should come back soon.
  const options = {
    maxStalledCount: 1_000_000,
    stalledInterval: 5_000,
    lockDuration: 15_000,
    runRetryDelay: 2_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  }
  const redis = openRedis(
    connection.redisUrl,
    { maxRetriesPerRequest: null, socketTimeout: 15_000 }, // longer than a worker ever blocks
    connection.onError,
  )
  const { Worker } = withBackend(createRedisBackend)
  return {
    redis,
    open(shard: number, concurrency: number): { close(): Promise<void> } {
      const prefix = shardPrefix(prefixOf(connection), shard)
      const settings = { ...options, concurrency, connection: redis, prefix }
      const worker = new Worker<DispatchJob>(dispatchQueueName, processor, settings) as unknown as Worker<DispatchJob>
      return worker.on('error', connection.onError)
    },
  }
}

export function prefixOf(connection: QueueConnection): string {
  return connection.prefix ?? '{belfry}'
}

async function depthOf(bulls: ReadonlyArray<Pick<Queue, 'getJobCounts'>>): Promise<QueueDepth> {
  const states = ['waiting', 'prioritized', 'active', 'delayed'] as const
  const counts = await Promise.all(bulls.map(bull => bull.getJobCounts(...states)))
  const sum = (names: readonly string[]) =>
    counts.reduce((total, count) => total + names.reduce((all, name) => all + (count[name] ?? 0), 0), 0)
  return { ready: sum(['waiting', 'prioritized', 'active']), delayed: sum(['delayed']) }
}
