import type { BaseAdapter } from '@bull-board/api/baseAdapter'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { openQueue, openShards, type QueueConnection } from '../connection.ts'
import { type DeadLetter, deadLetterQueueName } from '../dead-letter-queue.ts'
import type { DispatchJob } from '../dispatch-job.ts'
import { dispatchQueueName } from '../dispatch-queue.ts'
import { describeJob, titleOf } from './describe-job.ts'
import { showLettersAsFailed } from './show-letters-as-failed.ts'

/** The queues as operators see them on the board. */
export type BoardQueues = {
  adapters: BaseAdapter[]
  /** The one of them that shows the dead letters, each as a failed job with the id of its task (`task_...`). */
  deadLetters: BaseAdapter
  close(): Promise<void>
}

/**
 * Opens every queue for the board. What delivers is shown and cannot be changed there: PostgreSQL knows what has to be
 * done, and would have it done whatever happens to a job. Of the dead letters one may act on each.
 */
export function openBoardQueues(connection: QueueConnection): BoardQueues {
  const dispatch = openShards<DispatchJob>(connection, dispatchQueueName)
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
  const deadLetters = showLettersAsFailed(letters.bull)
  return {
    adapters: [...dispatchAdapters, deadLetters],
    deadLetters,
    async close() {
      await Promise.all([dispatch, letters].map(queue => queue.close()))
    },
  }
}
