import { WaitingError } from 'bullmq'
import { openWorkerStore, prefixOf, type QueueConnection } from './connection.ts'
import { type DispatchJob, type DueTask, tasksOf } from './dispatch-job.ts'
import { dispatchQueueName } from './dispatch-queue.ts'
import { emptyOldShards } from './old-shards.ts'

export type DispatchConsumer = {
  /** Takes no new job, gives back the jobs that are not yet handed over, and ends. */
  close(): Promise<void>
}

/**
 * Takes due jobs and gives their tasks to `take`, which resolves once it answers for every one of them. When it
 * rejects because `signal` was aborted, the job goes back to the queue for another dispatcher.
 */
export function consumeDispatchQueue(
  connection: QueueConnection,
  options: {
    /** Jobs in hand at a time, of all shards together. */
    concurrency: number
    take: (tasks: DueTask[], signal: AbortSignal) => Promise<void>
  },
): DispatchConsumer {
  const stop = new AbortController()
  const { shards = 1 } = connection
  const store = openWorkerStore<DispatchJob>(connection, dispatchQueueName, async (job, token) => {
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
    async close() {
      const closing = workers.map(worker => worker.close()) // from here on no job is asked for, but one may be on its way
      stop.abort()
      await Promise.all(closing)
      store.close()
    },
  }
}
