import { beforeEach, expect, it } from 'vitest'
import { addToOutbox } from '../src/outbox/outbox.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { measureBacklog } from '../src/tasks/measure-backlog.ts'
import { aTask, useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()
beforeEach(() => db.pool.query('TRUNCATE tasks, outbox CASCADE'))

it('measures an empty backlog', async () => {
  expect(await measureBacklog(db.pool)).toEqual({
    due: 0,
    startable: 0,
    oldestDueSeconds: 0,
    oldestStartableSeconds: 0,
    leaseOverdueSeconds: 0,
    outbox: [
      { kind: 'mail', waiting: 0, oldestSeconds: 0, overdueSeconds: 0 },
      { kind: 'webhook', waiting: 0, oldestSeconds: 0, overdueSeconds: 0 },
    ],
  })
})

it('measures the due tasks, the age of the oldest, the oldest expired lease, and the waiting messages', async () => {
  const [first, second, lost, later] = [aTask(), aTask(), aTask(), aTask({ executeAt: new Date(Date.now() + 60_000) })]
  await insertTasks(db.pool, [first, second, lost, later])
  const set = (change: string, id: string) => db.pool.query(`UPDATE tasks SET ${change} WHERE id = $1`, [id])
  await set(`due_at = now() - interval '30 seconds'`, first.id)
  await set(`due_at = now() - interval '300 seconds'`, second.id)
  await set(`state = 'processing', lease_until = now() - interval '50 seconds', due_at = 'epoch'`, lost.id)
  const message = { kind: 'mail', label: 'a', content: '{}', masterKeys: null } as const
  await addToOutbox(db.pool, { ...message, id: first.id })
  await addToOutbox(db.pool, { ...message, id: second.id })
  await addToOutbox(db.pool, { ...message, kind: 'webhook', id: lost.id })
  const age = (seconds: number, due: string, id: string) =>
    db.pool.query(
      `UPDATE outbox SET created_at = now() - $1 * interval '1 second', due_at = now() + $2::interval WHERE id = $3`,
      [seconds, due, id],
    )
  await age(20, '-10 seconds', second.id)
  await age(5_000, '600 seconds', lost.id) // waits for its next attempt
  const measured = await measureBacklog(db.pool)
  expect(measured.due).toBe(2)
  expect(measured.oldestDueSeconds).toBeGreaterThanOrEqual(300)
  expect(measured.leaseOverdueSeconds).toBeGreaterThanOrEqual(50)
  expect(measured.leaseOverdueSeconds).toBeLessThan(300)
  expect(measured.outbox[0]).toMatchObject({ kind: 'mail', waiting: 2 })
  expect(measured.outbox[0]?.oldestSeconds).toBeGreaterThanOrEqual(20)
  expect(measured.outbox[0]?.overdueSeconds).toBeGreaterThanOrEqual(10)
  expect(measured.outbox[0]?.overdueSeconds).toBeLessThan(20)
  expect(measured.outbox[1]).toMatchObject({ kind: 'webhook', waiting: 1, overdueSeconds: 0 })
  expect(measured.outbox[1]?.oldestSeconds).toBeGreaterThanOrEqual(5_000)
})

it('counts at most ten thousand tasks', async () => {
  const text = `
    INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
    SELECT gen_random_uuid(), gen_random_uuid(), 'event', now(), now() FROM generate_series(1, 10001)`
  await db.pool.query(text)
  expect((await measureBacklog(db.pool)).due).toBe(10_000)
})
