import { setTimeout as sleep } from 'node:timers/promises'
import { upcomingTasks } from '@belfry/db/tasks/upcoming-tasks'
import { NIL_UUID } from '@belfry/domain/id'
import { admit } from './admit.ts'
import { toIncomingTask } from './incoming-task.ts'
import type { IntakeContext } from './intake-context.ts'

/** Reads tasks from PostgreSQL shortly before they are due, while no queue delivers them. */
export type UpcomingReader = {
  /** Whether a task with this due time may be missed by the readings, so a notification of it must be handled. */
  isTooLate(dueAt: number): boolean
  /** Reads the last seconds again: notifications were missed, or the clock or the share of this dispatcher has changed. */
  rewind(): void
  /** Reads until the process is to stop. */
  run(): Promise<void>
}

// A reading covers this much more than the time until the next one, which may be late.
const leadMs = 1_000
const minPauseMs = 500
// Together with the lead, less than the time by which PostgreSQL's notifications precede their tasks.
const maxPauseMs = 8_000
// How often to check whether the queue works.
const queueCheckMs = 1_000
// Covers what came due while nothing was read, or a reading failed. Anything older is late work.
const rewindMs = 5_000
const maxGapMs = 60_000
const pageSize = 1_000
const MAX_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type Position = { dueAt: Date; id: string }

export function createUpcomingReader(ctx: IntakeContext): UpcomingReader {
  let position: Position | null = null // null: nothing was read lately
  let readUntil = Number.NEGATIVE_INFINITY
  let pauseMs = minPauseMs
  let isRewound = true
  let wake = new AbortController()

  /** Reads once. Returns how long to wait before the next time. */
  async function round(): Promise<number> {
    const hasQueue = await isQueueWorking()
    if (hasQueue && !isRewound) {
      position = null
      return queueCheckMs
    }
    const now = ctx.clock.now()
    if (isRewound || position === null) position = rewound(position, now)
    isRewound = false
    readUntil = now + pauseMs + leadMs
    const until = new Date(readUntil)
    const found = await readPages(position, until)
    position = { dueAt: until, id: MAX_UUID }
    const nextMs = found > 0 ? minPauseMs : pauseMs // within what was read
    pauseMs = found > 0 ? minPauseMs : Math.min(pauseMs * 2, maxPauseMs)
    return hasQueue ? queueCheckMs : nextMs
  }

  // Some seconds back, or to where the readings before an outage ended.
  function rewound(before: Position | null, now: number): Position {
    const back = Math.min(now - rewindMs, before?.dueAt.getTime() ?? now)
    return { dueAt: new Date(Math.max(back, now - maxGapMs)), id: NIL_UUID }
  }

  async function isQueueWorking(): Promise<boolean> {
    if (ctx.queue === null) return false
    return ctx.queue.ping().then(
      () => true,
      () => false,
    )
  }

  async function readPages(from: Position, until: Date): Promise<number> {
    let found = 0
    for (let after = from; !ctx.stop.aborted; ) {
      const rows = await upcomingTasks(ctx.pool, { after, until, share: ctx.share.current(), limit: pageSize })
      found += rows.length
      admit(ctx, rows.map(toIncomingTask))
      const last = rows.at(-1)
      if (!last || rows.length < pageSize) break
      after = last
    }
    return found
  }

  return {
    isTooLate: dueAt => dueAt <= Math.max(readUntil, ctx.clock.now() + 2 * leadMs),
    rewind() {
      isRewound = true
      wake.abort()
    },
    async run() {
      ctx.stop.addEventListener('abort', () => wake.abort())
      while (!ctx.stop.aborted) {
        wake = new AbortController()
        const nextMs = await round().catch(error => {
          ctx.log.warn({ err: error }, 'upcoming.unreadable')
          isRewound = true
          return minPauseMs
        })
        if (!ctx.stop.aborted) await sleep(nextMs, undefined, { signal: wake.signal }).catch(() => {}) // woken
      }
    },
  }
}
