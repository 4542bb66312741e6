import { createLogger } from '@belfry/runtime'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Context } from '../context.ts'
import { createUpcomingReader } from './read-upcoming.ts'
import { createShare } from './share.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 0 }))
afterEach(() => void vi.useRealTimers())

/** Starts a reader that finds nothing. `readings`: when it read, from when, and until when, in seconds. */
function start(hasQueue: boolean) {
  const stop = new AbortController()
  const readings: Array<[at: number, from: number, until: number]> = []
  const works = { database: true, queue: true }
  const pool = {
    async query({ values: [from, , until] }: { values: [Date, string, Date] }) {
      if (!works.database) throw new Error('The database is away.')
      readings.push([Date.now() / 1_000, from.getTime() / 1_000, until.getTime() / 1_000])
      return { rows: [] }
    },
  }
  const ping = async () => {
    if (!works.queue) throw new Error('The queue is away.')
  }
  const ctx = {
    clock: { now: () => Date.now() },
    queue: hasQueue ? { ping } : null,
    log: createLogger('dispatcher', 'silent'),
    pool,
    share: createShare('one'),
    stop: stop.signal,
  } as unknown as Context
  const reader = createUpcomingReader(ctx)
  const running = reader.run()
  const end = async () => {
    stop.abort()
    await running
  }
  return { reader, readings, works, end }
}

it('reads the last five seconds, then where it ended, less often while there is nothing', async () => {
  const { readings, end } = start(false)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(readings).toEqual([
    [0, -5, 1.5],
    [0.5, 1.5, 2.5],
    [1.5, 2.5, 4.5],
    [3.5, 4.5, 8.5],
    [7.5, 8.5, 16.5],
    [15.5, 16.5, 24.5],
  ])
  await end()
})

it('reads the last seconds again at once when it is rewound', async () => {
  const { reader, readings, end } = start(false)
  await vi.advanceTimersByTimeAsync(10_000)
  reader.rewind()
  await vi.advanceTimersByTimeAsync(0)
  expect(readings.at(-1)).toEqual([10, 5, 19])
  await end()
})

it.each([
  ['from before the first failed reading', 20_000, [35.5, 11, 44.5]],
  ['a minute back at most', 100_000, [115.5, 55.5, 124.5]],
])('reads %s after the database was away', async (_from, awayMs, expected) => {
  const { readings, works, end } = start(false)
  await vi.advanceTimersByTimeAsync(15_000)
  works.database = false
  await vi.advanceTimersByTimeAsync(awayMs)
  expect(readings.length).toBe(5)
  works.database = true
  await vi.advanceTimersByTimeAsync(500)
  expect(readings.slice(5)).toEqual([expected])
  await end()
})

it('reads once while the queue works, and from five seconds before it failed', async () => {
  const { readings, works, end } = start(true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(readings).toEqual([[0, -5, 1.5]])
  works.queue = false
  await vi.advanceTimersByTimeAsync(1_000)
  const [, [at, from] = [0, 0]] = readings
  expect(at - from).toBeGreaterThanOrEqual(5)
  expect(at - from).toBeLessThanOrEqual(6)
  works.queue = true
  await vi.advanceTimersByTimeAsync(10_000)
  const before = readings.length
  await vi.advanceTimersByTimeAsync(60_000)
  expect(readings.length).toBe(before)
  await end()
})
