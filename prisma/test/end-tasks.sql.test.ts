import { randomUUID } from 'node:crypto'
import { newUuid } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import { claimTasks } from '../src/tasks/claim-tasks.ts'
import { endTasks } from '../src/tasks/end-tasks.ts'
import { insertTasks, type NewTask } from '../src/tasks/insert-tasks.ts'
import type { TaskFilter } from '../src/tasks/task-filter.ts'
import {
  cancelTaskOperation,
  findTaskOperation,
  startTaskOperation,
  stepTaskOperation,
} from '../src/tasks/task-operations.ts'
import { undoClaims } from '../src/tasks/undo-claims.ts'
import { aTask, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()
const all: TaskFilter = {
  ...{
    sources: null,
    cronJobIds: null,
    eventIds: null,
    topics: null,
    labels: null,
    queues: null,
    callbacksOf: null,
    name: null,
  },
  ...{ executeFrom: null, executeTo: null },
}

async function workspace(): Promise<string> {
  const id = randomUUID()
  await db.pool.query(`INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', $2, 'free')`, [id, id])
  await db.pool.query(`INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $1, 'A')`, [id])
  return id
}

async function insert(workspaceId: string, count: number, changes: Partial<NewTask> = {}): Promise<string[]> {
  const tasks = Array.from({ length: count }, () => aTask({ id: newUuid(), workspaceId, ...changes }))
  await insertTasks(db.pool, tasks)
  return tasks.map(({ id }) => id)
}

const stateCounts = async (workspaceId: string) =>
  Object.fromEntries(
    (
      await db.pool.query('SELECT state, count(*)::int AS n FROM tasks WHERE workspace_id = $1 GROUP BY state', [
        workspaceId,
      ])
    ).rows.map(({ state, n }) => [state, n]),
  )

describe('endTasks', () => {
  it('cancels pending tasks of the workspace, and nothing else', async () => {
    const [workspaceId, other] = [await workspace(), await workspace()]
    const [own, foreign, retrying] = [
      await insert(workspaceId, 2),
      await insert(other, 1),
      await insert(workspaceId, 1),
    ]
    await db.pool.query(`UPDATE tasks SET state = 'retrying' WHERE id = ANY ($1)`, [retrying])
    const ids = [...own, ...foreign, ...retrying, randomUUID()]
    expect(await endTasks(db.pool, workspaceId, ids, 'cancel')).toEqual({ ended: 2, undecided: 0 })
    expect([await stateCounts(workspaceId), await stateCounts(other)]).toEqual([
      { cancelled: 2, retrying: 1 },
      { pending: 1 },
    ])
    expect(await taskRow(db.pool, own[0] ?? '')).toMatchObject({ state_reason: 'user' })
  })

  it('stops retrying tasks, and counts them as failed executions', async () => {
    const workspaceId = await workspace()
    const ids = await insert(workspaceId, 3)
    await db.pool.query(`UPDATE tasks SET state = 'retrying', attempts = 1 WHERE id = ANY ($1)`, [ids.slice(0, 2)])
    expect(await endTasks(db.pool, workspaceId, ids, 'stop')).toEqual({ ended: 2, undecided: 0 })
    expect(await stateCounts(workspaceId)).toEqual({ dead: 2, pending: 1 })
    const failed = await db.pool.query('SELECT sum(failed)::int AS n FROM usage_changes WHERE workspace_id = $1', [
      workspaceId,
    ])
    expect(failed.rows[0].n).toBe(2)
  })

  it('reports prefetched tasks until it is decided whether they start', async () => {
    const workspaceId = await workspace()
    const { id: dispatcherId } = await enterDispatchers(db.pool)
    const [taskId] = (await insert(workspaceId, 1)) as [string]
    await db.pool.query('SELECT pg_sleep(0.01)')
    const [claim] = await claimTasks(db.pool, { dispatcherId }, [{ taskId, token: randomUUID(), isPrefetch: true }])
    if (claim?.kind !== 'claimed') throw new Error('The task was not claimed.')
    expect(await endTasks(db.pool, workspaceId, [taskId], 'cancel')).toEqual({ ended: 0, undecided: 1 })
    expect(await endTasks(db.pool, workspaceId, [taskId], 'stop')).toEqual({ ended: 0, undecided: 0 })
    await undoClaims(db.pool, [claim.task])
    expect(await endTasks(db.pool, workspaceId, [taskId], 'cancel')).toEqual({ ended: 1, undecided: 0 })
  })
})

describe('an operation', () => {
  it('ends the matching tasks page by page, leaves out later ones, and reports its progress', async () => {
    const workspaceId = await workspace()
    await insert(workspaceId, 5, { labels: ['x'] })
    await insert(workspaceId, 4)
    await insert(workspaceId, 3, { labels: ['x', 'y'] })
    const { id, total } = await startTaskOperation(db.pool, workspaceId, 'cancel', { ...all, labels: ['x'] })
    await db.pool.query('SELECT pg_sleep(0.002)') // times of creation are in milliseconds
    await insert(workspaceId, 2, { labels: ['x'] })
    expect(total).toBe(8)
    const ended: number[] = []
    for (let step = await stepTaskOperation(db.pool, 5); step; step = await stepTaskOperation(db.pool, 5)) {
      ended.push(step.ended)
    }
    expect(ended).toEqual([3, 1, 4]) // the walk also meets the later ones
    expect(await stateCounts(workspaceId)).toEqual({ cancelled: 8, pending: 6 })
    expect(await findTaskOperation(db.pool, workspaceId, id)).toMatchObject({ ended: 8, total: 8, cancelled: false })
  })

  // Ids contain the clock of the API that created the task.
  it.each([-1, 1])('ends what was created before its start, where a clock is wrong by %i h', async hours => {
    const workspaceId = await workspace()
    const tasks = (count: number) =>
      Array.from({ length: count }, () => aTask({ id: newUuid(Date.now() + hours * 3_600_000), workspaceId }))
    await insertTasks(db.pool, tasks(5))
    const { id } = await startTaskOperation(db.pool, workspaceId, 'cancel', all)
    await db.pool.query('SELECT pg_sleep(0.002)')
    await insertTasks(db.pool, tasks(2))
    for (let step = await stepTaskOperation(db.pool, 2); step; ) step = await stepTaskOperation(db.pool, 2)
    expect(await stateCounts(workspaceId)).toEqual({ cancelled: 5, pending: 2 })
    expect(await findTaskOperation(db.pool, workspaceId, id)).toMatchObject({ ended: 5, total: 5 })
  })

  it('begins again while a matching task is prefetched', async () => {
    const workspaceId = await workspace()
    const { id: dispatcherId } = await enterDispatchers(db.pool)
    const [taskId] = (await insert(workspaceId, 3)) as [string]
    await db.pool.query('SELECT pg_sleep(0.01)')
    const [claim] = await claimTasks(db.pool, { dispatcherId }, [{ taskId, token: randomUUID(), isPrefetch: true }])
    if (claim?.kind !== 'claimed') throw new Error('The task was not claimed.')
    await startTaskOperation(db.pool, workspaceId, 'cancel', all)
    expect(await stepTaskOperation(db.pool, 100)).toMatchObject({ ended: 2, isWaiting: true })
    expect(await stepTaskOperation(db.pool, 100)).toMatchObject({ ended: 0, isWaiting: true })
    await undoClaims(db.pool, [claim.task])
    expect(await stepTaskOperation(db.pool, 100)).toMatchObject({ ended: 1, isWaiting: false })
    expect(await stepTaskOperation(db.pool, 100)).toBeNull()
  })

  it('is one at a time in a workspace, and can be cancelled', async () => {
    const workspaceId = await workspace()
    await insert(workspaceId, 3)
    const first = await startTaskOperation(db.pool, workspaceId, 'cancel', { ...all, executeFrom: new Date(0) })
    const second = await startTaskOperation(db.pool, workspaceId, 'stop', all)
    expect([second.id, second.isNew, second.filter.executeFrom]).toEqual([first.id, false, new Date(0)])
    expect(await cancelTaskOperation(db.pool, workspaceId, first.id)).toBe(true)
    expect(await cancelTaskOperation(db.pool, workspaceId, first.id)).toBe(false)
    expect(await stepTaskOperation(db.pool, 100)).toBeNull()
    expect(await stateCounts(workspaceId)).toEqual({ pending: 3 })
  })
})
