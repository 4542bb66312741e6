import Denque from 'denque'
import type { QueueKey } from './host-queues.ts'

/** The queues that a user has paused, by their ids. */
export type PausedQueues = ReadonlyMap<string, QueueKey>

/** Returns the queues that are in one of the two only. */
export function changedPauses(before: PausedQueues, after: PausedQueues): QueueKey[] {
  return [...before, ...after].flatMap(([id, key]) => (before.has(id) && after.has(id) ? [] : [key]))
}

/** Returns the tasks of a queue with those first that a pause lets pass. */
export function exemptFirst<Task>(tasks: Denque<Task>, isExempt: (task: Task) => boolean): Denque<Task> {
  const all = tasks.toArray()
  return new Denque([...all.filter(isExempt), ...all.filter(task => !isExempt(task))])
}
