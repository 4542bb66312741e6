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
const terminate = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()`

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

it('divides more than a page of tasks with the same time over three dispatchers', async () => {
  const workspace = aWorkspace()
  await Promise.all([test.start(), test.start(), test.start()])
  await sleep(1_500) // each knows of the others
  const count = 4_500
  const tasks = await test.store({ count, workspace, url: target.url('/'), dueInMs: 4_000 })
  await called(count, 100_000)
  expect(new Set(target.requests.map(({ rawHeaders }) => rawHeaders[rawHeaders.indexOf('webhook-id') + 1]))).toEqual(
    new Set(tasks.map(({ id }) => id)),
  )
}, 120_000)

it('starts a task that was stored while the connection for notifications was away', async () => {
  const workspace = aWorkspace()
  await test.start()
  await sleep(2_000)
  const { rowCount } = await test.pool.query(terminate)
  expect(rowCount).toBe(1)
  await test.store({ count: 20, workspace, url: target.url('/'), dueInMs: 0 })
  await called(20, 5_000)
})

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

it('calls a task whose time was changed to now', async () => {
  await test.start()
  await sleep(500)
  await test.store({ count: 1, workspace: aWorkspace(), url: target.url('/'), dueInMs: 60_000 })
  await test.pool.query('UPDATE tasks SET due_at = now(), execute_at = now()')
  await called(1, 2_000)
})

it('attempts each task once, with two dispatchers', async () => {
  const workspace = aWorkspace()
  await Promise.all([test.start(), test.start()])
  await sleep(1_500)
  for (let i = 0; i < 50; i++) await test.store({ count: 2, workspace, url: target.url('/'), dueInMs: 0 })
  await called(100)
  const { rows } = await test.pool.query('SELECT sum(attempts)::int AS attempts FROM tasks')
  expect(rows).toEqual([{ attempts: 100 }])
})
