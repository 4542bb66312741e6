import { randomUUID } from 'node:crypto'
import { newUuid } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { cancelBulkOperation, findBulkOperation, startBulkOperation } from '../src/bulk-operations/bulk-operations.ts'
import { stepBulkOperation } from '../src/bulk-operations/step-bulk-operation.ts'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import { endTasks } from '../src/tasks/end-tasks.ts'
import { insertTasks, type NewTask } from '../src/tasks/insert-tasks.ts'
import { undoClaims } from '../src/tasks/undo-claims.ts'
import { claimTasks } from './claim-tasks.ts'
import { aTask, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()
const all = { action: 'cancel', filter: {}, perSecond: null } as const

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
    expect(await endTasks(db.pool, workspaceId, ids, 'cancel')).toEqual({ ended: 2, undecided: [] })
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
    expect(await endTasks(db.pool, workspaceId, ids, 'stop')).toEqual({ ended: 2, undecided: [] })
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
    expect(await endTasks(db.pool, workspaceId, [taskId], 'cancel')).toEqual({ ended: 0, undecided: [taskId] })
    expect(await endTasks(db.pool, workspaceId, [taskId], 'stop')).toEqual({ ended: 0, undecided: [] })
    await undoClaims(db.pool, [claim.task])
    expect(await endTasks(db.pool, workspaceId, [taskId], 'cancel')).toEqual({ ended: 1, undecided: [] })
  })
})

describe('an operation', () => {
  it('ends the matching tasks page by page, leaves out later ones, and reports its progress', async () => {
    const workspaceId = await workspace()
    await insert(workspaceId, 5, { labels: ['x'] })
    await insert(workspaceId, 4)
    await insert(workspaceId, 3, { labels: ['x', 'y'] })
    const { id, total } = await startBulkOperation(db.pool, workspaceId, { ...all, filter: { label: ['x'] } })
    await db.pool.query('SELECT pg_sleep(0.002)') // times of creation are in milliseconds
    await insert(workspaceId, 2, { labels: ['x'] })
    expect(total).toBe(8)
    const ended: number[] = []
    for (let step = await stepBulkOperation(db.pool, 5); step; step = await stepBulkOperation(db.pool, 5)) {
      ended.push(step.done)
    }
    expect(ended).toEqual([3, 1, 4]) // the walk also meets the later ones
    expect(await stateCounts(workspaceId)).toEqual({ cancelled: 8, pending: 6 })
    expect(await findBulkOperation(db.pool, workspaceId, id)).toMatchObject({ done: 8, total: 8, cancelled: false })
  })

  // Ids contain the clock of the API that created the task.
  it.each([-1, 1])('ends what was created before its start, where a clock is wrong by %i h', async hours => {
    const workspaceId = await workspace()
    const tasks = (count: number) =>
      Array.from({ length: count }, () => aTask({ id: newUuid(Date.now() + hours * 3_600_000), workspaceId }))
    await insertTasks(db.pool, tasks(5))
    const { id } = await startBulkOperation(db.pool, workspaceId, all)
    await db.pool.query('SELECT pg_sleep(0.002)')
    await insertTasks(db.pool, tasks(2))
    for (let step = await stepBulkOperation(db.pool, 2); step; ) step = await stepBulkOperation(db.pool, 2)
    expect(await stateCounts(workspaceId)).toEqual({ cancelled: 5, pending: 2 })
    expect(await findBulkOperation(db.pool, workspaceId, id)).toMatchObject({ done: 5, total: 5 })
  })

  it('begins again while a matching task is prefetched', async () => {
    const workspaceId = await workspace()
    const { id: dispatcherId } = await enterDispatchers(db.pool)
    const [taskId] = (await insert(workspaceId, 3)) as [string]
    await db.pool.query('SELECT pg_sleep(0.01)')
    const [claim] = await claimTasks(db.pool, { dispatcherId }, [{ taskId, token: randomUUID(), isPrefetch: true }])
    if (claim?.kind !== 'claimed') throw new Error('The task was not claimed.')
    await startBulkOperation(db.pool, workspaceId, all)
    expect(await stepBulkOperation(db.pool, 100)).toMatchObject({ done: 2, isWaiting: true })
    expect(await stepBulkOperation(db.pool, 100)).toMatchObject({ done: 0, isWaiting: true })
    await undoClaims(db.pool, [claim.task])
    expect(await stepBulkOperation(db.pool, 100)).toMatchObject({ done: 1, isWaiting: false })
    expect(await stepBulkOperation(db.pool, 100)).toBeNull()
  })

  it('is one at a time in a workspace, and can be cancelled', async () => {
    const workspaceId = await workspace()
    await insert(workspaceId, 3)
    const first = await startBulkOperation(db.pool, workspaceId, { ...all, filter: { from: new Date(0) } })
    const second = await startBulkOperation(db.pool, workspaceId, { ...all, action: 'stop' })
    expect([second.id, second.isNew, second.filter.from]).toEqual([first.id, false, new Date(0).toISOString()])
    expect(await cancelBulkOperation(db.pool, workspaceId, first.id)).toMatchObject({ id: first.id, cancelled: true })
    expect(await cancelBulkOperation(db.pool, workspaceId, first.id)).toBeUndefined()
    expect(await stepBulkOperation(db.pool, 100)).toBeNull()
    expect(await stateCounts(workspaceId)).toEqual({ pending: 3 })
  })
})
