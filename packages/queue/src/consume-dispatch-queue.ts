import { WaitingError } from 'bullmq'
import { openWorkerStore, prefixOf, type QueueConnection } from './connection.ts'
import { type DueTask, tasksOf } from './dispatch-job.ts'
import { emptyOldShards } from './old-shards.ts'

export type DispatchConsumer = ReturnType<typeof consumeDispatchQueue>

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
  const { shards = 1 } = connection
  const store = openWorkerStore(connection, async (job, token) => {
    try {
      stop.signal.throwIfAborted()
      await options.take(tasksOf(job), stop.signal)
    } catch (error) {
      if (!stop.signal.aborted) throw error
      await job.moveToWait(token)
      throw new WaitingError()
    }
  })
  const open = (shard: number) => store.open(shard, Math.ceil(options.concurrency / shards))
  const workers = Array.from({ length: shards }, (_, shard) => open(shard))
  workers.push(emptyOldShards(store.redis, { prefix: prefixOf(connection), shards }, open))
  return {
    /** Stops taking jobs, and requeues the jobs whose tasks have not been taken. */
    async close(): Promise<void> {
      const closing = workers.map(worker => worker.close()) // stops the requests for jobs, but one may still arrive
      stop.abort()
      await Promise.all(closing)
      store.redis.disconnect()
    },
  }
}
