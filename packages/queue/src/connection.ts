import { createRedisBackend, type Queue, withBackend } from 'bullmq'
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
  return {
    bulls,
    redis,
    async close(): Promise<void> {
      await Promise.all(bulls.map(bull => bull.close()))
      redis.disconnect()
    },
  }
}

export function prefixOf(connection: QueueConnection): string {
  return connection.prefix ?? '{belfry}'
}
