import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import { publishCircuits } from '../src/dispatchers/host-circuits.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { measureDueWork } from '../src/tasks/startable-tasks.ts'
import { aTask, aWorkspace, useDatabase } from './setup.ts'

const db = useDatabase()
beforeEach(() => db.pool.query('TRUNCATE tasks, task_requests, resting_hosts, dispatchers, workspaces CASCADE'))

// Storing and reading takes seconds on a busy machine.
const tensOf = (age: number) => Math.floor(age / 10) * 10
const seconds = (work: { oldestDueSeconds: number; oldestStartableSeconds: number }) => [
  tensOf(work.oldestDueSeconds),
  tensOf(work.oldestStartableSeconds),
]

/** Stores tasks of one workspace that have been due for some seconds. */
async function storeDue(workspaceId: string, url: string, dueSeconds: number, count = 1): Promise<void> {
  const tasks = Array.from({ length: count }, () => aTask({ workspaceId, url }))
  for (let from = 0; from < count; from += 1_000) await insertTasks(db.pool, tasks.slice(from, from + 1_000))
  const text = `UPDATE tasks SET due_at = now() - $2 * interval '1 second' WHERE id = ANY ($1)`
  await db.pool.query(text, [tasks.map(({ id }) => id), dueSeconds])
}

const openCircuit = async (workspaceId: string, host: string) => {
  const { id } = await enterDispatchers(db.pool)
  await publishCircuits(db.pool, id, [{ workspaceId, host, openForMs: 30_000 }])
}

it('counts a task whose workspace calls a host with an open circuit breaker as due, but not as startable', async () => {
  const [dead, well] = [randomUUID(), randomUUID()]
  await storeDue(dead, 'https://Dead.Example:443/hook', 900)
  await storeDue(well, 'https://dead.example/hook', 30)
  await openCircuit(dead, 'dead.example')
  const work = await measureDueWork(db.pool)
  expect([work.due, work.startable]).toEqual([2, 1])
  expect(seconds(work)).toEqual([900, 30])
})

it('counts it as startable again when the dispatcher that opened the breaker is gone', async () => {
  const workspace = randomUUID()
  await storeDue(workspace, 'https://dead.example/hook', 900)
  await openCircuit(workspace, 'dead.example')
  await db.pool.query(`UPDATE dispatchers SET seen_at = now() - interval '10 seconds'`)
  expect((await measureDueWork(db.pool)).startable).toBe(1)
})

it('counts the tasks of a host that has all of its permits in use as not startable', async () => {
  const workspace = randomUUID()
  await enterDispatchers(db.pool, false, { slots: 200, permitsPerHost: 4 })
  await storeDue(workspace, 'https://slow.example/a', 600)
  const calls = Array.from({ length: 4 }, (_, i) => aTask({ workspaceId: workspace, url: `https://slow.example/${i}` }))
  await insertTasks(db.pool, calls)
  const call = (count: number) =>
    db.pool.query(
      `UPDATE tasks SET state = 'processing', lease_until = now() + interval '1 minute' WHERE id = ANY ($1)`,
      [calls.slice(0, count).map(({ id }) => id)],
    )
  await call(3)
  expect(seconds(await measureDueWork(db.pool))).toEqual([600, 600])
  await call(4)
  expect(seconds(await measureDueWork(db.pool))).toEqual([600, 0])
})

it('counts the tasks of a suspended workspace as not startable', async () => {
  const workspace = await aWorkspace(db.pool)
  await storeDue(workspace, 'https://example.com/hook', 60)
  await db.pool.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [workspace])
  const work = await measureDueWork(db.pool)
  expect([work.due, work.startable]).toEqual([1, 0])
})

it('finds a startable task behind more tasks of a dead host than it counts', async () => {
  const [dead, well] = [await aWorkspace(db.pool), await aWorkspace(db.pool)]
  await storeDue(dead, 'https://dead.example/hook', 900, 10_001)
  await storeDue(well, 'https://example.com/hook', 300)
  await openCircuit(dead, 'dead.example')
  const work = await measureDueWork(db.pool)
  expect([work.due, work.startable]).toEqual([10_000, 1])
  expect(seconds(work)).toEqual([900, 300])
})

it('measures one workspace', async () => {
  const [one, other] = [randomUUID(), randomUUID()]
  await storeDue(one, 'https://example.com/hook', 20)
  await storeDue(other, 'https://example.com/hook', 90)
  expect(seconds(await measureDueWork(db.pool, one))).toEqual([20, 20])
})
