import Denque from 'denque'
import { mayTake } from './fair-share.ts'

/** The tasks at the front of a queue whose claims are prefetched: claimed before a slot is free for them. */
export type PrefetchWindow = ReturnType<PrefetchWindows['open']>

/** The windows of all queues. They share a bound. */
export type PrefetchWindows = ReturnType<typeof createPrefetchWindows>

// A batch of claims and an entry in the send journal take less under load, each with the wait for the previous one.
const horizonMs = 150
const maxPrefetched = 512
// A queue alone gets at most nine tenths.
const weight = 9

export function createPrefetchWindows() {
  let total = 0

  function open() {
    const addedAt = new Denque<number>()
    const rate = createCompletionRate()
    return {
      get size(): number {
        return addedAt.length
      },
      /** When the task at the front was added; null when the window is empty. */
      get oldest(): number | null {
        return addedAt.peekFront() ?? null
      },
      /** Records that an attempt of the queue has ended. */
      recordCompletion: rate.record,
      /**
       * Extends the window to the tasks that will have a slot within 150 ms at the current rate of completions.
       * @param queued - The number of tasks of the queue, including the window.
       * @returns How many tasks were added.
       */
      extend(queued: number, now: number): number {
        const before = addedAt.length
        const target = Math.min(queued, rate.expect(horizonMs, now))
        while (addedAt.length < target && mayTake(addedAt.length, maxPrefetched - total, weight)) {
          addedAt.push(now)
          total++
        }
        return addedAt.length - before
      },
      /** Returns how many of its tasks should have a slot within `ms`. */
      startingWithin: (ms: number, now: number): number => Math.min(addedAt.length, rate.expect(ms, now)),
      shift(): void {
        if (addedAt.isEmpty()) return
        addedAt.shift()
        total--
      },
    }
  }

  return {
    open,
    /** The tasks in all windows. */
    get size(): number {
      return total
    },
  }
}

const windowMs = 100

/** Counts in windows of 100 ms. The busier one of the last and the current window is the rate. */
export function createCompletionRate() {
  let window = 0
  let count = 0
  let previousCount = 0

  function moveTo(now: number): void {
    const current = Math.floor(now / windowMs)
    if (current === window) return
    previousCount = current === window + 1 ? count : 0
    count = 0
    window = current
  }

  return {
    record(now: number): void {
      moveTo(now)
      count++
    },
    /** Returns how many completions to expect within `ms`, rounded up; 0 without recent completions. */
    expect(ms: number, now: number): number {
      moveTo(now)
      return Math.ceil((Math.max(count, previousCount) * ms) / windowMs)
    },
  }
}

export function tasksAt<Task>(tasks: Denque<Task>, first: number, count: number): Task[] {
  const found: Task[] = []
  for (let i = first; i < first + count; i++) {
    const task = tasks.peekAt(i)
    if (task !== undefined) found.push(task)
  }
  return found
}
