import { openQueue, type QueueConnection } from './connection.ts'

export const deadLetterQueueName = 'dead-letter'

/** A copy of the dead-letter list for operators who watch the queue's store. PostgreSQL holds the list itself. */
export type DeadLetterQueue = {
  add(letter: DeadLetter): Promise<void>
  close(): Promise<void>
}

export type DeadLetter = { task: string; workspace: string; attempts: number; error: string }

export function openDeadLetterQueue(connection: QueueConnection): DeadLetterQueue {
  const { bull, redis, close } = openQueue<DeadLetter>(connection, deadLetterQueueName)
  return {
    async add(letter) {
      if (redis && redis.status !== 'ready') throw new Error(`The queue is not reachable (${redis.status}).`)
      await bull.add('dead', letter, { jobId: letter.task })
    },
    close,
  }
}
