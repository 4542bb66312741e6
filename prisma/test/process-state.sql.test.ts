import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { beatScheduler, leaveSchedulers } from '../src/dispatchers/beat-scheduler.ts'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import { readProcessState } from '../src/dispatchers/process-state.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()
beforeEach(() => db.pool.query('TRUNCATE dispatchers; TRUNCATE schedulers'))
const age = (table: string, id: string, ago: string) =>
  db.pool.query(`UPDATE ${table} SET seen_at = clock_timestamp() - $2::interval WHERE id = $1`, [id, ago])

it('knows no process in an empty installation', async () => {
  const none = { live: 0, lastSeenAt: null }
  expect(await readProcessState(db.pool)).toEqual({ dispatchers: none, schedulers: none, slots: 0, permitsPerHost: 0 })
})

it('counts the dispatchers with a heartbeat in the last five seconds, and what they may have in flight', async () => {
  const [old, young] = [
    await enterDispatchers(db.pool, false, { slots: 200, permitsPerHost: 64 }),
    await enterDispatchers(db.pool),
  ]
  await enterDispatchers(db.pool, true, { slots: 1, permitsPerHost: 1 })
  expect(await readProcessState(db.pool)).toMatchObject({ dispatchers: { live: 2 }, slots: 200, permitsPerHost: 64 })
  await age('dispatchers', old.id, '6 seconds')
  const { dispatchers, slots } = await readProcessState(db.pool)
  expect([dispatchers.live, slots]).toEqual([1, 0])
  await young.beat(() => [], false) // it is about to stop
  await age('dispatchers', old.id, '20 seconds')
  const stopped = (await readProcessState(db.pool)).dispatchers
  expect(stopped.live).toBe(0)
  expect(Date.now() - (stopped.lastSeenAt?.getTime() ?? 0)).toBeGreaterThan(19_000)
})

it('divides work among the dispatchers that had a heartbeat in the last three seconds and do not stop', async () => {
  const [one, other] = [await enterDispatchers(db.pool), await enterDispatchers(db.pool)]
  await enterDispatchers(db.pool, true)
  const divided = () => one.beat(() => [])
  await age('dispatchers', other.id, '2 seconds')
  expect(await divided()).toEqual([one.id, other.id].sort())
  await age('dispatchers', other.id, '3.1 seconds')
  expect(await divided()).toEqual([one.id])
  await other.beat(() => [])
  expect(await divided()).toHaveLength(2)
  await other.beat(() => [], false)
  expect(await divided()).toEqual([one.id])
})

it('counts schedulers until they leave or have no heartbeat, and forgets old ones', async () => {
  const [one, other, lost] = [randomUUID(), randomUUID(), randomUUID()]
  for (const id of [one, other, lost]) await beatScheduler(db.pool, id)
  expect((await readProcessState(db.pool)).schedulers.live).toBe(3)
  await leaveSchedulers(db.pool, one)
  await age('schedulers', lost, '2 hours')
  await beatScheduler(db.pool, other)
  expect((await readProcessState(db.pool)).schedulers.live).toBe(1)
  expect((await db.pool.query('SELECT FROM schedulers')).rowCount).toBe(1)
  await age('schedulers', other, '6 seconds')
  expect((await readProcessState(db.pool)).schedulers).toMatchObject({ live: 0, lastSeenAt: expect.any(Date) })
})
