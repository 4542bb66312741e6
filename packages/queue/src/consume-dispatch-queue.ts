import { WaitingError } from 'bullmq'
import { openWorker, type QueueConnection } from './connection.ts'
import { type DispatchJob, type DueTask, tasksOf } from './dispatch-job.ts'
import { dispatchQueueName } from './dispatch-queue.ts'

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
    /** Jobs in hand at a time. */
    concurrency: number
    take: (tasks: DueTask[], signal: AbortSignal) => Promise<void>
  },
): DispatchConsumer {
  const stop = new AbortController()
  const worker = openWorker<DispatchJob>(
    connection,
    dispatchQueueName,
    async (job, token) => {
      try {
        stop.signal.throwIfAborted()
        await options.take(tasksOf(job.data), stop.signal)
      } catch (error) {
        if (!stop.signal.aborted) throw error
        await job.moveToWait(token)
        throw new WaitingError()
      }
    },
    options.concurrency,
  )
  return {
    async close() {
      const closing = worker.close() // from here on no job is asked for, but one may be on its way
      stop.abort()
      await closing
    },
  }
}
