import { expect, it, onTestFinished } from 'vitest'
import { every, everyInTurn } from './every.ts'
import { createWaker } from './waker.ts'

it('repeats a chore, never twice at once, even after a failure', async () => {
  const stop = new AbortController()
  let running = 0
  let overlapped = false
  let runs = 0
  const errors: unknown[] = []
  await every(
    {
      intervalMs: 1,
      async run() {
        overlapped ||= ++running > 1
        await new Promise(resolve => setTimeout(resolve, 2))
        running--
        if (++runs === 5) stop.abort()
        if (runs === 2) throw new Error('once')
      },
      onError: error => errors.push(error),
    },
    stop.signal,
  )
  expect({ runs, overlapped, errors: errors.length }).toEqual({ runs: 5, overlapped: false, errors: 1 })
})

it('ends at once during a pause of any length', async () => {
  const stop = new AbortController()
  const began = performance.now()
  const loop = every({ intervalMs: 3_600_000, run: async () => 0, onError: () => {} }, stop.signal)
  setImmediate(() => stop.abort())
  await loop
  expect(performance.now() - began).toBeLessThan(1000)
})

/** A loop whose runs find the numbers in `found`, and then nothing. */
function aLoop(found: number[], maxIntervalMs: number) {
  const stop = new AbortController()
  const waker = createWaker()
  const runs: number[] = []
  const run = async () => {
    runs.push(performance.now())
    return found.shift() ?? 0
  }
  const ended = every({ intervalMs: 20, maxIntervalMs, waker, run, onError: () => {} }, stop.signal)
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
  return { waker, runs }
}

it('doubles the pause while there is nothing to do, and resets it afterwards', async () => {
  const { runs } = aLoop([0, 0, 0, 5], 100)
  const minima = [40, 80, 100, 20, 40, 80]
  await expect.poll(() => runs.length, { timeout: 5_000 }).toBeGreaterThan(minima.length)
  for (const [i, ms] of minima.entries()) expect((runs[i + 1] ?? 0) - (runs[i] ?? 0)).toBeGreaterThan(ms - 2)
})

it('ends a long pause when it is woken, but never the minimum pause', async () => {
  const { waker, runs } = aLoop([], 3_600_000)
  await expect.poll(() => runs.length, { timeout: 5_000 }).toBeGreaterThan(4) // the next pause has 640 ms
  const before = runs.length
  const wokenAt = performance.now()
  waker.wake()
  await expect.poll(() => runs.length, { interval: 5 }).toBeGreaterThan(before)
  expect((runs[before] ?? 0) - wokenAt).toBeLessThan(400)
  waker.wake()
  await expect.poll(() => runs.length, { interval: 5 }).toBeGreaterThan(before + 1)
  expect((runs[before + 1] ?? 0) - (runs[before] ?? 0)).toBeGreaterThan(18)
})

it('runs once more when it was woken during a run', async () => {
  const stop = new AbortController()
  const waker = createWaker()
  let runs = 0
  const run = async () => {
    if (++runs === 1) waker.wake()
    else stop.abort()
    return 0
  }
  await every({ intervalMs: 1, maxIntervalMs: 3_600_000, waker, run, onError: () => {} }, stop.signal)
  expect(runs).toBe(2)
})

it('begins chores one after the other, and none when it is to stop', async () => {
  const stop = new AbortController()
  const began: number[] = []
  const loops = [0, 1, 2].map(place => ({
    intervalMs: 3_600_000,
    run: async () => {
      began.push(place)
      if (place === 1) stop.abort()
    },
    onError: () => {},
  }))
  await Promise.all(everyInTurn(loops, stop.signal))
  expect(began).toEqual([0, 1])
})
