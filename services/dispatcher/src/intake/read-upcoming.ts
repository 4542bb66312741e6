import { waitingTasks } from '@belfry/db/tasks/due-work'
import { createWaker } from '@belfry/runtime'
import type { Context } from '../context.ts'
import { admit } from './admit.ts'
import { toIncomingTask } from './incoming-task.ts'

/** Reads tasks from PostgreSQL shortly before they are due, while no queue delivers them. */
export type UpcomingReader = ReturnType<typeof createUpcomingReader>

// A reading covers this much more than the time until the next one, in case that is late.
const leadMs = 1_000
const minPauseMs = 500
// Together with the lead, less than the time by which PostgreSQL's notifications precede their tasks.
const maxPauseMs = 8_000
// How often to check whether the queue works.
const queueCheckMs = 1_000
// Covers what came due while nothing was read, or a reading failed. Anything older is late work.
const rewindMs = 5_000
const maxGapMs = 60_000

export function createUpcomingReader(ctx: Context) {
  const waker = createWaker()
  let position = ctx.clock.now() // all tasks that are due before have been read
  let readUntil = position
  let pauseMs = minPauseMs

  /** Reads once. Returns how long to wait before the next time. */
  async function round(isRewound: boolean): Promise<number> {
    const hasQueue = await isQueueWorking()
    const now = ctx.clock.now()
    if (isRewound) position = Math.max(Math.min(position, now - rewindMs), now - maxGapMs)
    else if (hasQueue) {
      position = now - rewindMs // where to begin when the queue fails
      return queueCheckMs
    }
    readUntil = now + pauseMs + leadMs
    const found = await readPages(new Date(position), new Date(readUntil))
    position = readUntil
    const nextMs = found > 0 ? minPauseMs : pauseMs // within what was read
    pauseMs = found > 0 ? minPauseMs : Math.min(pauseMs * 2, maxPauseMs)
    return hasQueue ? queueCheckMs : nextMs
  }

  async function isQueueWorking(): Promise<boolean> {
    if (ctx.queue === null) return false
    return ctx.queue.ping().then(
      () => true,
      () => false,
    )
  }

  async function readPages(from: Date, until: Date): Promise<number> {
    let found = 0
    for await (const rows of waitingTasks(ctx.pool, { from, until, share: ctx.share.current() })) {
      if (ctx.stop.aborted) break
      found += rows.length
      admit(ctx, rows.map(toIncomingTask))
    }
    return found
  }

  return {
    /** Whether a task with this due time may be missed by the readings, so a notification of it must be handled. */
    isTooLate: (dueAt: number): boolean => dueAt <= Math.max(readUntil, ctx.clock.now() + 2 * leadMs),
    /** Reads the last seconds again: notifications were missed, or the clock or the share of this dispatcher has changed. */
    rewind: waker.wake,
    async run(): Promise<void> {
      for (let isRewound = true; !ctx.stop.aborted; ) {
        const nextMs: number | null = await round(isRewound).catch(error => {
          ctx.log.warn({ err: error }, 'upcoming.unreadable')
          return null
        })
        isRewound = (await waker.pause(nextMs ?? minPauseMs, ctx.stop)) || nextMs === null
      }
    },
  }
}
