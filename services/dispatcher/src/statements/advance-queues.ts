import { advanceQueues } from '@belfry/db/queues/advance-queues'
import type { ClaimOptions } from './claim-short-tasks.ts'

/**
 * Opens the wake-up of queues. Queues that need it at the same time share a statement, and a queue that needs it twice is
 * woken once. After a failure the scheduler's search finds the queue.
 * @returns A function that wakes a queue soon: see `advanceQueues`.
 */
export function openAdvanceQueue({ pool, log, metrics }: ClaimOptions): (queueId: string) => void {
  const waiting = new Set<string>()
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.size > 0) {
      const ids = [...waiting]
      waiting.clear()
      metrics.batch({ batch: 'advance_queues' }, ids.length)
      await advanceQueues(pool, ids).catch(error => log.warn({ err: error, queues: ids.length }, 'queues.not_advanced'))
    }
    isRunning = false
  }

  return queueId => {
    waiting.add(queueId)
    if (!isRunning) setImmediate(() => isRunning || run())
  }
}
