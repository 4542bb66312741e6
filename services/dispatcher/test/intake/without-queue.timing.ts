import { setTimeout as sleep } from 'node:timers/promises'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, lagsOf, setupIntake } from './setup-intake.ts'

let test: IntakeTest
let target: Receiver
beforeEach(async () => {
  target = await startReceiver()
  test = await setupIntake('postgres', 0)
})
afterEach(async () => {
  await target?.close()
  await test?.close()
})

const called = (count: number, timeout = 10_000) => expect.poll(() => target.requests.length, { timeout }).toBe(count)

it('starts a task within milliseconds when idle, and a task that is due in seconds on time', async () => {
  const workspace = aWorkspace()
  await test.start()
  await sleep(5_000) // it reads every four seconds by now
  for (const dueInMs of [0, 0, 0, 700, 3_000]) {
    await test.store({ count: 1, workspace, url: target.url('/'), dueInMs })
    await sleep(100)
  }
  await called(5)
  await expect.poll(async () => (await lagsOf(test.pool, workspace)).length).toBe(5)
  expect((await lagsOf(test.pool, workspace)).at(-1)).toBeLessThan(300)
})

// Each in a database of its own, at the same time: the two only wait. A reading that finds nothing makes the next pause
// longer. It must have read the tasks of that pause already.
it('starts a task on time after a long pause, and a task between two readings while their distance grows', async () => {
  const lags = await Promise.all([lagOfOne(17_000), lagOfOne(13_500)])
  expect(Math.max(...lags)).toBeLessThan(300)
}, 30_000)

/** Returns the lag of a task that is stored before its dispatcher starts, in a database without other tasks. */
async function lagOfOne(dueInMs: number): Promise<number> {
  const own = await setupIntake('postgres', 0)
  try {
    const workspace = aWorkspace()
    await own.store({ count: 1, workspace, url: target.url('/'), dueInMs })
    await own.start()
    const lags = () => lagsOf(own.pool, workspace)
    await expect.poll(async () => (await lags()).length, { timeout: 25_000 }).toBe(1)
    return (await lags())[0] ?? Number.POSITIVE_INFINITY
  } finally {
    await own.close()
  }
}

it('leaves its share to the others at once when it is told to stop, while its call continues', async () => {
  const slow = await startReceiver()
  slow.answer('/', { does: 'hang' })
  const stop = await test.start()
  await test.store({ count: 1, workspace: aWorkspace(), url: slow.url('/'), dueInMs: 0, timeoutMs: 12_000 })
  await expect.poll(() => slow.requests.length).toBe(1)
  await test.start()
  await sleep(2_500) // each knows of the other
  const stopping = stop()
  await sleep(2_500)
  await test.store({ count: 40, workspace: aWorkspace(), url: target.url('/'), dueInMs: 0 })
  await called(40, 3_000)
  await slow.close() // ends the call
  await stopping
}, 40_000)
