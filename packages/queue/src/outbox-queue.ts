import { openQueue, openWorker, type QueueConnection, type QueueDepth } from './connection.ts'

export const outboxQueueName = 'outbox'

/** A message that stands in the outbox: its id and what it is, never what it says. */
export type OutboxJob = { message: string; label: string }

export type OutboxQueue = {
  /** Wakes a dispatcher for messages that have just been stored. Rejects at once while the store is away. */
  announce(messages: readonly OutboxJob[]): Promise<void>
  depth(): Promise<QueueDepth>
  close(): Promise<void>
}

export type OutboxConsumer = { close(): Promise<void> }

// For operators who want to see what went by.
const keptJobs = 100

export function openOutboxQueue(connection: QueueConnection): OutboxQueue {
  const { bull, reachable, depth, close } = openQueue<OutboxJob>(connection, outboxQueueName)
  return {
    async announce(messages) {
      await reachable()
      const opts = { removeOnComplete: { count: keptJobs } }
      await bull.addBulk(messages.map(data => ({ name: data.label, data, opts: { ...opts, jobId: data.message } })))
    },
    async depth() {
      await reachable()
      return depth()
    },
    close,
  }
}

/** Calls `wake` for each message that is announced; PostgreSQL knows what has to be sent. */
export function consumeOutboxQueue(connection: QueueConnection, wake: () => void): OutboxConsumer {
  return openWorker<OutboxJob>(connection, outboxQueueName, async () => wake(), 1)
}
