import { expect, it } from 'vitest'
import { holdOverdueTasks, releaseHeldTasks } from '../src/held-tasks.ts'
import { expireLeases, insertTasks } from '../src/index.ts'
import { aTask, claimAll, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

it('holds what was due or under way, leaves the future alone, and lets everything go on as it was', async () => {
  const [due, underWay, future] = [aTask(), aTask(), aTask({ executeAt: new Date(Date.now() + 60_000) })]
  await insertTasks(db.pool, [due, underWay, future])
  await claimAll(db.pool, [underWay.id])
  await db.pool.query(`UPDATE tasks SET lease_until = now() WHERE id = $1`, [underWay.id])
  const read = async () => {
    const rows = await Promise.all([due, underWay, future].map(({ id }) => taskRow(db.pool, id)))
    return rows.map(({ state, due_at, lease_until }) => ({ state, due_at, lease_until }))
  }
  const before = await read()

  expect(await holdOverdueTasks(db.pool)).toBe(2)
  expect(await holdOverdueTasks(db.pool)).toBe(0)
  expect((await claimAll(db.pool, [due.id]))[0]?.kind).toBe('early')
  expect(await expireLeases(db.pool, 10)).toEqual([])
  expect((await read())[2]).toEqual(before[2])

  expect(await releaseHeldTasks(db.pool)).toBe(2)
  expect(await read()).toEqual(before)
})
