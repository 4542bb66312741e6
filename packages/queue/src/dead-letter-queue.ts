import { openQueue, type QueueConnection, type QueueDepth } from './connection.ts'

export const deadLetterQueueName = 'dead-letter'

// The size that the scheduler trims the copy to, once a minute.
const maxDeadLetters = 10_000

/** A copy of the dead-letter list for the operators' board. PostgreSQL holds the list itself. */
export type DeadLetterQueue = {
  add(letter: DeadLetter): Promise<void>
  /** Removes the dead letters of these tasks, if they exist. */
  remove(tasks: readonly string[]): Promise<void>
  /** Removes the oldest dead letters beyond `max`, up to 1,000 per call. Default: 10,000. Returns how many. */
  trim(max?: number): Promise<number>
  depth(): Promise<QueueDepth>
  close(): Promise<void>
}

/** `task` and `workspace` are public ids (`task_...`, `ws_...`). */
export type DeadLetter = { task: string; workspace: string; attempts: number; error: string }

const maxPerTrim = 1_000

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
    async trim(max = maxDeadLetters) {
      await reachable()
      const oldest = await bull.getJobs(['waiting'], max, max + maxPerTrim - 1, false) // newest first
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
