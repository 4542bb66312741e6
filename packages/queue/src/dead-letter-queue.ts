import { openQueue, type QueueConnection, type QueueDepth } from './connection.ts'

export const deadLetterQueueName = 'dead-letter'

/** Letters that the copy holds at most, but for those of the last minute. */
export const mostDeadLetters = 10_000

/** A copy of the dead-letter list for operators who watch the queue's store. PostgreSQL holds the list itself. */
export type DeadLetterQueue = {
  add(letter: DeadLetter): Promise<void>
  /** Takes the letters of these tasks out; those that are not there are no matter. */
  remove(tasks: readonly string[]): Promise<void>
  /** Takes out the oldest letters beyond `most`, a thousand at most. Returns how many. */
  trim(most: number): Promise<number>
  depth(): Promise<QueueDepth>
  close(): Promise<void>
}

/** `task` and `workspace` are ids as callers know them. */
export type DeadLetter = { task: string; workspace: string; attempts: number; error: string }

const mostPerTrim = 1_000

export function openDeadLetterQueue(connection: QueueConnection): DeadLetterQueue {
  const { bull, reachable, depth, close } = openQueue<DeadLetter>(connection, deadLetterQueueName)
  return {
    async add(letter) {
      await reachable()
      await bull.add('dead', letter, { jobId: letter.task })
    },
    async remove(tasks) {
      await reachable()
      await Promise.all(tasks.map(task => bull.remove(task)))
    },
    async trim(most) {
      await reachable()
      const oldest = await bull.getJobs(['waiting'], most, most + mostPerTrim - 1, false) // newest first
      await Promise.all(oldest.map(job => job.remove()))
      return oldest.length
    },
    async depth() {
      await reachable()
      return depth()
    },
    close,
  }
}
