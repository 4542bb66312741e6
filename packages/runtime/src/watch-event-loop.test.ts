import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createLogger } from './logger.ts'
import { sampleEventLoopDelay, watchEventLoop } from './watch-event-loop.ts'

let now = 0

beforeEach(() => {
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
  onTestFinished(watchEventLoop(log))
  for (const blockedMs of [0, 1_000, 2_200, 0]) passHalfSecond({ blockedMs })
  expect(warn.mock.calls).toEqual([[{ blockedMs: 2_200 }, 'event_loop.blocked']])
})

it('samples the event loop twice a second, until the last listener stops', () => {
  const samples: number[] = []
  const stop = sampleEventLoopDelay(delayMs => samples.push(delayMs))
  passHalfSecond()
  passHalfSecond({ blockedMs: 20 })
  stop()
  passHalfSecond()
  expect(samples).toEqual([0, 20])
  expect(vi.getTimerCount()).toBe(0)
})
