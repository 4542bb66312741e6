import type { QueueField, UpdateQueueBody } from '@belfry/contract/queue'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { advanceQueues } from '@belfry/db/queues/advance-queues'
import { nameQueue, type QueueLimits } from '@belfry/db/queues/queues'

/** Returns the name in a `queue` field: undefined when it is absent, null when the body removes the queue. */
export function queueNameOf(queue: QueueField | null | undefined): string | null | undefined {
  return typeof queue === 'object' && queue !== null ? queue.name : queue
}

/** Creates the queue that a body names, if it is new, and sets the limits that the body has. */
export async function openQueue(db: Db, workspaceId: string, queue: QueueField | null | undefined): Promise<void> {
  if (queue === undefined || queue === null) return
  const { name, ...limits } = typeof queue === 'string' ? { name: queue } : queue
  const { id, isChanged } = await nameQueue(db, workspaceId, name, toLimits(limits))
  if (isChanged) await advanceQueues(db, [id])
}

/** Returns the limits that a body sets. */
export function toLimits(body: UpdateQueueBody): Partial<QueueLimits> {
  const { max_concurrent: maxConcurrent, rate_limit: rate, ordered } = body
  return {
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(rate !== undefined && { rateLimit: rate && { count: rate.count, periodMs: rate.period_ms } }),
    ...(ordered !== undefined && { ordered }),
  }
}
