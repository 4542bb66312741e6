import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { advanceQueues, advanceRatedQueues } from '../src/queues/advance-queues.ts'
import { nameQueue } from '../src/queues/queues.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { aTask, aWorkspace, useDatabase } from './setup.ts'

const db = useDatabase()

it('a queue without limits that was resumed makes the next 500 tasks due soon after the first ones', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const id = (await nameQueue(db.pool, workspaceId, 'q', {})) ?? ''
  for (let i = 0; i < 4; i++) {
    await insertTasks(
      db.pool,
      Array.from({ length: 130 }, () => aTask({ workspaceId, queue: 'q' })),
    )
  }
  await db.pool.query('UPDATE tasks SET waits_for = 1') // blocked while it was paused
  const nextMs = async () => {
    const text = 'SELECT extract(epoch FROM advance_at - now())::float8 * 1000 AS ms FROM queues WHERE id = $1'
    return (await db.pool.query<{ ms: number | null }>(text, [id])).rows[0]?.ms
  }
  expect(await advanceQueues(db.pool, [id])).toBe(500)
  expect(await nextMs()).toBeLessThanOrEqual(200)
  expect(await advanceQueues(db.pool, [id])).toBe(0) // those that are due are the next to start
  expect(await nextMs()).toBeLessThanOrEqual(200)
  await db.pool.query(`UPDATE tasks SET state = 'success', finished_at = now() WHERE waits_for = 0`)
  await sleep(210)
  expect(await advanceRatedQueues(db.pool, 10)).toBe(1)
  const { rows } = await db.pool.query('SELECT FROM tasks WHERE finished_at IS NULL AND waits_for = 0')
  expect(rows).toHaveLength(20)
  expect(await nextMs()).toBeNull()
})
