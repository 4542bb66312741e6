import type { QueueConnection } from './connection.ts'
import { openDeadLetterQueue } from './dead-letter-queue.ts'
import { openDispatchQueue } from './dispatch-queue.ts'

/** Opens the queues of a service; all are null without a Redis. */
export function openQueues(
  { redisUrl, queueShards: shards }: { redisUrl: string | null; queueShards: number },
  onError: QueueConnection['onError'],
) {
  if (redisUrl === null) return { queueConnection: null, queue: null, deadLetters: null }
  const queueConnection: QueueConnection = { redisUrl, shards, onError }
  return {
    queueConnection,
    queue: openDispatchQueue(queueConnection),
    deadLetters: openDeadLetterQueue(queueConnection),
  }
}
