import { setTimeout as sleep } from 'node:timers/promises'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, setupIntake } from './setup-intake.ts'

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

it('divides more than a page of tasks with the same time over three dispatchers', async () => {
  const workspace = aWorkspace()
  await Promise.all([test.start(), test.start(), test.start()])
  await sleep(1_500) // each knows of the others
  const count = propertyRuns(4_500, 1_500)
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

it('calls a task whose time was changed to now', async () => {
  await test.start()
  await sleep(500)
  await test.store({ count: 1, workspace: aWorkspace(), url: target.url('/'), dueInMs: 60_000 })
  await test.pool.query(`UPDATE tasks SET due_at = now() - interval '1 ms', execute_at = now() - interval '1 ms'`)
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
