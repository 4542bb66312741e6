import type { BaseAdapter } from '@bull-board/api/baseAdapter'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import type { Job, Queue } from 'bullmq'
import { openQueue, openShards, type QueueConnection } from '../connection.ts'
import { type DeadLetter, deadLetterQueueName } from '../dead-letter-queue.ts'
import { type DispatchJob, dueIn, type ReadableJob, tasksOf } from '../dispatch-job.ts'
import { dispatchQueueName } from '../dispatch-queue.ts'

/** The queues of the operators' board. */
export type BoardQueues = {
  adapters: BaseAdapter[]
  /** The adapter of the dead letters, each shown as a failed job with the id of its task (`task_...`). */
  deadLetters: BaseAdapter
  close(): Promise<void>
}

/**
 * Opens every queue for the board. The dispatch queue is read-only: PostgreSQL decides about tasks, so an action on a job
 * would have no effect. Operators can retry or discard dead letters.
 */
export function openBoardQueues(connection: QueueConnection): BoardQueues {
  const dispatch = openShards<DispatchJob>(connection, dispatchQueueName)
  const deadLetterQueue = openQueue<DeadLetter>(connection, deadLetterQueueName)
  const dispatchAdapters = dispatch.bulls.map((bull, shard) => {
    const adapter = new BullMQAdapter(bull, {
      readOnlyMode: true,
      prefix: shard === 0 ? '' : `shard-${shard}-`,
      description: 'Tasks that are due within five minutes. PostgreSQL has all of them.',
    })
    adapter.setFormatter('data', describeJob)
    adapter.setFormatter('name', titleOf)
    return adapter
  })
  const deadLetters = showDeadLettersAsFailed(deadLetterQueue.bull)
  return {
    adapters: [...dispatchAdapters, deadLetters],
    deadLetters,
    async close() {
      await Promise.all([dispatch, deadLetterQueue].map(queue => queue.close()))
    },
  }
}

/** Describes the tasks of a job: their ids, due times and, where the data has them, workspaces and targets. */
export function describeJob(data: DispatchJob): object {
  const tasks = tasksOf({ name: '', data }).map(({ id, dueAt, workspace, origin }) => ({
    task: id,
    due_at: new Date(dueAt).toISOString(),
    ...(workspace === undefined ? {} : { workspace, target: origin }),
  }))
  return { count: tasks.length, tasks }
}

/** Returns the title of a job. For a job of one task it includes the workspace and the target, where the job has them. */
export function titleOf({ name, data }: ReadableJob): string {
  const [task, ...others] = tasksOf({ name, data })
  if (!task || others.length > 0 || task.workspace === undefined) return name
  return `task ${dueIn(task.dueAt)}, ${task.workspace} to ${task.origin}`
}

/** Shows the waiting jobs of the dead-letter queue, which has no consumer, as failed jobs with a reason and a retry. */
function showDeadLettersAsFailed(deadLetters: Queue<DeadLetter>): BullMQAdapter {
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
