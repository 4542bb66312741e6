import { setTimeout as sleep } from 'node:timers/promises'
import { upcomingTasks } from '@belfry/db'
import type { Context } from '../context.ts'
import { admit } from './admit.ts'
import { targetOf } from './target-of.ts'

/** Reads tasks from PostgreSQL shortly before they are due, while no queue brings them. */
export type UpcomingReader = {
  /** Whether a task that is due then has to be taken up when a notification names it: it is too late for a reading. */
  isTooLate(dueAt: number): boolean
  /** Reads again what has just become due: notifications were missed, or the clock or the share of this dispatcher has changed. */
  rewind(): void
  /** Reads until the process is to stop. */
  run(): Promise<void>
}

type ReaderContext = Pick<Context, 'pool' | 'clock' | 'queue' | 'share' | 'log' | 'stop'> & Parameters<typeof admit>[0]

// A reading goes this far beyond the next one, which may be late.
const leadMs = 1_000
const minPauseMs = 500
// With the lead less than PostgreSQL's notifications come ahead of their tasks.
const maxPauseMs = 8_000
// How often to look whether the queue still works.
const queueCheckMs = 1_000
// What came due while nothing was read, or a reading failed. What is older is late work, which is searched for.
const rewindMs = 5_000
const maxGapMs = 60_000
const pageSize = 1_000
const lowestId = '00000000-0000-0000-0000-000000000000'
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export function createUpcomingReader(ctx: ReaderContext): UpcomingReader {
  let position: { dueAt: Date; id: string } | null = null // null: nothing has been read, or not lately
  let readUntil = Number.NEGATIVE_INFINITY
  let pauseMs = minPauseMs
  let isRewound = true
  let wake = new AbortController()

  /** Reads once. Returns how long to wait for the next time. */
  async function round(): Promise<number> {
    const mayRest = await isQueueWorking()
    if (mayRest && !isRewound) {
      position = null
      return queueCheckMs
    }
    const now = ctx.clock.now()
    if (isRewound || position === null) position = rewound(position, now)
    isRewound = false
    readUntil = now + pauseMs + leadMs
    const until = new Date(readUntil)
    const found = await readPages(position, until)
    position = { dueAt: until, id: highestId }
    const restMs = found > 0 ? minPauseMs : pauseMs // no longer than was read ahead
    pauseMs = found > 0 ? minPauseMs : Math.min(pauseMs * 2, maxPauseMs)
    return mayRest ? queueCheckMs : restMs
  }

  // Some seconds back, or to where the readings before an outage ended.
  function rewound(before: { dueAt: Date } | null, now: number): { dueAt: Date; id: string } {
    const back = Math.min(now - rewindMs, before?.dueAt.getTime() ?? now)
    return { dueAt: new Date(Math.max(back, now - maxGapMs)), id: lowestId }
  }

  async function isQueueWorking(): Promise<boolean> {
    if (ctx.queue === null) return false
    return ctx.queue.ping().then(
      () => true,
      () => false,
    )
  }

  async function readPages(from: { dueAt: Date; id: string }, until: Date): Promise<number> {
    let found = 0
    for (let after = from; !ctx.stop.aborted; ) {
      const rows = await upcomingTasks(ctx.pool, { after, until, share: ctx.share.current(), limit: pageSize })
      found += rows.length
      admit(
        ctx,
        rows.map(({ id, workspaceId, dueAt, origin }) => {
          return { id, workspace: workspaceId, dueAt: dueAt.getTime(), ...targetOf(origin) }
        }),
      )
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
        const restMs = await round().catch(error => {
          ctx.log.warn({ err: error }, 'upcoming.unreadable')
          isRewound = true
          return minPauseMs
        })
        if (!ctx.stop.aborted) await sleep(restMs, undefined, { signal: wake.signal }).catch(() => {}) // woken
      }
    },
  }
}
