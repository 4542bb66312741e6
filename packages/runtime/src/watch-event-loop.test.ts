import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createLogger } from './logger.ts'

let now = 0
let watch: typeof import('./watch-event-loop.ts')

beforeEach(async () => {
  // A process has one timer, which other files of this worker may have started.
  vi.resetModules()
  watch = await import('./watch-event-loop.ts')
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  return () => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  }
})

/** Fires the timers of half a second, which comes late by the time that the event loop is blocked. */
function passHalfSecond({ blockedMs = 0 } = {}): void {
  now += 500 + blockedMs
  vi.advanceTimersByTime(500)
}

it('warns about an event loop that was blocked for more than a second', () => {
  const log = createLogger('api', 'silent')
  const warn = vi.spyOn(log, 'warn')
  onTestFinished(watch.watchEventLoop(log))
  for (const blockedMs of [0, 1_000, 2_200, 0]) passHalfSecond({ blockedMs })
  expect(warn.mock.calls).toEqual([[{ blockedMs: 2_200 }, 'event_loop.blocked']])
})

it('samples the event loop twice a second, until the last listener stops', () => {
  const samples: number[] = []
  const stop = watch.sampleEventLoopDelay(delayMs => samples.push(delayMs))
  passHalfSecond()
  passHalfSecond({ blockedMs: 20 })
  stop()
  passHalfSecond()
  expect(samples).toEqual([0, 20])
  expect(vi.getTimerCount()).toBe(0)
})
