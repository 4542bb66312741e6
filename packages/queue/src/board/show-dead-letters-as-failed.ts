import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import type { Job, Queue } from 'bullmq'
import type { DeadLetter } from '../dead-letter-queue.ts'

/** Shows the waiting jobs of the dead-letter queue, which has no consumer, as failed jobs with a reason and a retry. */
export function showDeadLettersAsFailed(deadLetters: Queue<DeadLetter>): BullMQAdapter {
  const adapter = new BullMQAdapter(deadLetters, {
    description:
      'Tasks that could not be delivered, the newest 10,000. Retry replays one as a new task; clean discards it.',
  })
  const none = {
    latest: 0,
    active: 0,
    waiting: 0,
    'waiting-children': 0,
    prioritized: 0,
    completed: 0,
    delayed: 0,
    paused: 0,
  }
  return Object.assign(adapter, {
    getStatuses: () => ['latest' as const, 'failed' as const],
    getJobStatuses: () => ['failed' as const],
    getJobCounts: async () => ({ ...none, failed: await deadLetters.getWaitingCount() }),
    getJob: async (id: string) => {
      const job = await deadLetters.getJob(id)
      return job && asFailed(job)
    },
    getJobs: async (_states: unknown, start?: number, end?: number) =>
      (await deadLetters.getJobs(['waiting'], start, end, false)).filter(Boolean).map(asFailed),
  })
}

function asFailed(job: Job<DeadLetter>): Job<DeadLetter> {
  const written = job.toJSON()
  const { error, attempts } = job.data
  const diedAt = job.timestamp
  return Object.assign(job, {
    getState: async () => 'failed' as const,
    toJSON: () => ({
      ...written,
      failedReason: error,
      attemptsMade: attempts,
      processedOn: diedAt,
      finishedOn: diedAt,
    }),
  })
}
