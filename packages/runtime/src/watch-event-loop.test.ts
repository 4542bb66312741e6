import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLogger } from './logger.ts'
import { sampleEventLoopDelay, watchEventLoop } from './watch-event-loop.ts'

const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

it('warns about an event loop that was blocked for more than a second', async () => {
  const log = createLogger('api', 'silent')
  const warn = vi.spyOn(log, 'warn')
  onTestFinished(watchEventLoop(log))
  await sleep(20)
  block(2_200)
  await expect.poll(() => warn.mock.calls).toEqual([[{ blockedMs: expect.any(Number) }, 'event_loop.blocked']])
  const [[{ blockedMs }]] = warn.mock.calls as unknown as [[{ blockedMs: number }]]
  expect(blockedMs).toBeGreaterThan(1_600)
  expect(blockedMs).toBeLessThan(3_000)
})

it('samples a free event loop twice a second', async () => {
  const samples: number[] = []
  onTestFinished(sampleEventLoopDelay(delayMs => samples.push(delayMs)))
  const began = performance.now()
  await expect.poll(() => samples.length, { timeout: 5_000 }).toBe(2)
  expect(performance.now() - began).toBeGreaterThan(950)
})
