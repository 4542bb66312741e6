import { setTimeout as sleep } from 'node:timers/promises'
import { createRedisBackend, type Processor, WaitingError, type Worker, withBackend } from 'bullmq'
import { dispatchQueueName, prefixOf, type QueueConnection } from './connection.ts'
import { type DispatchJob, type DueTask, tasksOf } from './dispatch-job.ts'
import { emptyOldShards } from './old-shards.ts'
import { openRedis } from './open-redis.ts'
import { shardPrefix } from './shards.ts'

export type DispatchConsumer = ReturnType<typeof consumeDispatchQueue>

// A job ends once the dispatcher has buffered its tasks, so it is short. PostgreSQL decides about the tasks: the counters of BullMQ
// must not end a job, and a lost worker's jobs should come back soon.
const workerOptions = {
  maxStalledCount: 1_000_000,
  stalledInterval: 5_000,
  lockDuration: 15_000,
  runRetryDelay: 2_000,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
}
const patienceMs = 2_000
// `socketTimeout`: longer than a worker ever blocks.
const redisOptions = { maxRetriesPerRequest: null, socketTimeout: 15_000 }

/**
 * Consumes due jobs and passes their tasks to `take`. `take` resolves once it is responsible for every one of them. When it
 * rejects because `signal` was aborted, the job is requeued for another dispatcher.
 */
export function consumeDispatchQueue(
  connection: QueueConnection,
  options: {
    /** The maximum number of jobs in progress, over all shards. */
    concurrency: number
    take: (tasks: DueTask[], signal: AbortSignal) => Promise<void>
  },
) {
  const stop = new AbortController()
  const { redisUrl, shards = 1, onError } = connection
  const prefix = prefixOf(connection)
  const concurrency = Math.ceil(options.concurrency / shards)
  const redis = openRedis(redisUrl, redisOptions, onError)
  const { Worker } = withBackend(createRedisBackend)

  const take: Processor<DispatchJob> = async (job, token) => {
    try {
      stop.signal.throwIfAborted()
      await options.take(tasksOf(job), stop.signal)
    } catch (error) {
      if (!stop.signal.aborted) throw error
      await job.moveToWait(token)
      throw new WaitingError()
    }
  }

  function open(shard: number): { close(): Promise<void> } {
    const settings = { ...workerOptions, concurrency, connection: redis, prefix: shardPrefix(prefix, shard) }
    const worker = new Worker<DispatchJob>(dispatchQueueName, take, settings) as unknown as Worker<DispatchJob>
    return worker.on('error', onError)
  }

  const workers = Array.from({ length: shards }, (_, shard) => open(shard))
  workers.push(emptyOldShards(redis, { prefix, shards }, open))
  return {
    /**
     * Stops taking jobs, and requeues the jobs whose tasks have not been taken. Gives up after two seconds: others take the
     * jobs once their locks have ended.
     */
    async close(): Promise<void> {
      const closing = workers.map(worker => worker.close()) // stops the requests for jobs, but one may still arrive
      stop.abort()
      // Without Redis a worker does not end: one of a cluster waits for the end of connections that it does not have.
      await Promise.race([Promise.all(closing), sleep(patienceMs, undefined, { ref: false })])
      redis.disconnect()
    },
  }
}
