import { openQueue, type QueueConnection } from './connection.ts'

export const deadLetterQueueName = 'dead-letter'

/** A copy of the dead-letter list for operators who watch the queue's store. PostgreSQL holds the list itself. */
export type DeadLetterQueue = {
  add(letter: DeadLetter): Promise<void>
  close(): Promise<void>
}

export type DeadLetter = { task: string; workspace: string; attempts: number; error: string }

export function openDeadLetterQueue(connection: QueueConnection): DeadLetterQueue {
  const { bull, reachable, close } = openQueue<DeadLetter>(connection, deadLetterQueueName)
  return {
    async add(letter) {
      await reachable()
      await bull.add('dead', letter, { jobId: letter.task })
    },
    close,
  }
}
