import type { BaseAdapter } from '@bull-board/api/baseAdapter'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { openQueue, openShards, type QueueConnection } from '../connection.ts'
import { type DeadLetter, deadLetterQueueName } from '../dead-letter-queue.ts'
import type { DispatchJob } from '../dispatch-job.ts'
import { dispatchQueueName } from '../dispatch-queue.ts'
import { type OutboxJob, outboxQueueName } from '../outbox-queue.ts'
import { describeJob, titleOf } from './describe-job.ts'
import { showLettersAsFailed } from './show-letters-as-failed.ts'

/** The queues as operators see them on the board. */
export type BoardQueues = {
  adapters: BaseAdapter[]
  /** The letter that the operators' copy of the dead-letter list shows for a task (`task_...`). */
  findLetter(task: string): Promise<DeadLetter | null>
  /** The newest letters. */
  newestLetters(most: number): Promise<DeadLetter[]>
  close(): Promise<void>
}

/**
 * Opens every queue for the board. What delivers is shown and cannot be changed there: PostgreSQL knows what has to be
 * done, and would have it done whatever happens to a job. Of the dead letters one may act on each.
 */
export function openBoardQueues(connection: QueueConnection): BoardQueues {
  const dispatch = openShards<DispatchJob>(connection, dispatchQueueName)
  const outbox = openQueue<OutboxJob>(connection, outboxQueueName)
  const letters = openQueue<DeadLetter>(connection, deadLetterQueueName)
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
  const outboxAdapter = new BullMQAdapter(outbox.bull, {
    readOnlyMode: true,
    description: 'Wakes a dispatcher for mails and alerts. PostgreSQL has the messages.',
  })
  return {
    adapters: [...dispatchAdapters, showLettersAsFailed(letters.bull), outboxAdapter],
    async findLetter(task) {
      await letters.reachable()
      return (await letters.bull.getJob(task))?.data ?? null
    },
    async newestLetters(most) {
      await letters.reachable()
      return (await letters.bull.getJobs(['waiting'], 0, most - 1, false)).map(({ data }) => data)
    },
    async close() {
      await Promise.all([dispatch, outbox, letters].map(queue => queue.close()))
    },
  }
}
