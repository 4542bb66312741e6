import { advanceQueues } from '@belfry/db/queues/advance-queues'
import type { ClaimOptions } from './claim-short-tasks.ts'

/** Wakes a queue soon: see `advanceQueues`. */
export type AdvanceQueue = (queueId: string) => void

/**
 * Opens the wake-up of queues. Queues that need it at the same time share a statement, and a queue that needs it twice is
 * woken once. After a failure the scheduler's search finds the queue.
 */
export function openAdvanceQueue({ pool, log, metrics }: ClaimOptions): AdvanceQueue {
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
