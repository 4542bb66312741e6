import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { endTask } from '../src/tasks/change-task.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { locateTasks } from '../src/tasks/locate-tasks.ts'
import { aTask, claimAll, useDatabase } from './setup.ts'

const db = useDatabase()

it('returns the workspace and the origin of waiting tasks in the order of the ids, and null for others', async () => {
  const later = new Date(Date.now() + 60_000)
  const [waiting, far, claimed, cancelled] = [
    aTask({ url: 'https://one.example/a' }),
    aTask({ url: 'http://two.example', executeAt: later }),
    aTask(),
    aTask({ executeAt: later }),
  ]
  await insertTasks(db.pool, [waiting, far, claimed, cancelled])
  await claimAll(db.pool, [claimed.id])
  await endTask(db.pool, cancelled.workspaceId, cancelled.id, 'cancel')
  const ids = [cancelled.id, far.id, randomUUID(), claimed.id, waiting.id, far.id]
  const second = { taskId: far.id, workspaceId: far.workspaceId, origin: 'http://two.example' }
  const first = { taskId: waiting.id, workspaceId: waiting.workspaceId, origin: 'https://one.example' }
  expect(await locateTasks(db.pool, ids)).toEqual([null, second, null, null, first, second])
})
