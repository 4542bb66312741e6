import type { QueueConnection } from './connection.ts'

/** Opens the queue of a service; null without a Redis. */
export async function openQueue(
  { redisUrl, queueShards: shards }: { redisUrl: string | null; queueShards: number },
  onError: QueueConnection['onError'],
) {
  if (redisUrl === null) return { queueConnection: null, queue: null }
  // A process without a Redis does not load BullMQ.
  const { openDispatchQueue } = await import('./dispatch-queue.ts')
  const queueConnection: QueueConnection = { redisUrl, shards, onError }
  return { queueConnection, queue: openDispatchQueue(queueConnection) }
}
