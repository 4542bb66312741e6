import type { QueueConnection } from './connection.ts'

/** Opens the queues of a service; all are null without a Redis. */
export async function openQueues(
  { redisUrl, queueShards: shards }: { redisUrl: string | null; queueShards: number },
  onError: QueueConnection['onError'],
) {
  if (redisUrl === null) return { queueConnection: null, queue: null, deadLetters: null }
  // A process without a Redis does not load BullMQ.
  const { openDispatchQueue } = await import('./dispatch-queue.ts')
  const { openDeadLetterQueue } = await import('./dead-letter-queue.ts')
  const queueConnection: QueueConnection = { redisUrl, shards, onError }
  return {
    queueConnection,
    queue: openDispatchQueue(queueConnection),
    deadLetters: openDeadLetterQueue(queueConnection),
  }
}
