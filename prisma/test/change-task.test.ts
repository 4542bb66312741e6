import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { cancelPendingTask, changePendingTask, insertTasks } from '../src/index.ts'
import { aTask, claimAll, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

async function pending() {
  const task = aTask({ executeAt: new Date(Date.now() + 60_000) })
  await insertTasks(db.pool, [task])
  return task
}

describe('cancelPendingTask', () => {
  it('cancels a pending task once', async () => {
    const task = await pending()
    expect((await cancelPendingTask(db.pool, task.workspaceId, task.id)).kind).toBe('moved')
    expect(await taskRow(db.pool, task.id)).toMatchObject({ state: 'cancelled', state_reason: 'user' })
    expect(await cancelPendingTask(db.pool, task.workspaceId, task.id)).toEqual({ kind: 'refused', state: 'cancelled' })
  })

  it('refuses a task that has started (spec 4, rule 3)', async () => {
    const task = aTask()
    await insertTasks(db.pool, [task])
    await claimAll(db.pool, [task.id])
    expect(await cancelPendingTask(db.pool, task.workspaceId, task.id)).toEqual({
      kind: 'refused',
      state: 'processing',
    })
  })

  it('does not know the task of another workspace', async () => {
    const task = await pending()
    expect(await cancelPendingTask(db.pool, randomUUID(), task.id)).toEqual({ kind: 'refused', state: null })
    expect((await taskRow(db.pool, task.id)).state).toBe('pending')
  })

  it('and a claim never both win', async () => {
    const tasks = Array.from({ length: 100 }, () => aTask())
    await insertTasks(db.pool, tasks)
    const cancels = tasks.map(task => cancelPendingTask(db.pool, task.workspaceId, task.id))
    const [cancelled, claims] = await Promise.all([
      Promise.all(cancels),
      claimAll(
        db.pool,
        tasks.map(({ id }) => id),
      ),
    ])
    tasks.forEach((_, i) => {
      expect(claims[i]?.kind === 'claimed' && cancelled[i]?.kind === 'moved').toBe(false)
    })
  })
})

describe('changePendingTask', () => {
  it('changes what is given and leaves the rest', async () => {
    const task = await pending()
    const executeAt = new Date(Date.now() + 120_000)
    const change = { executeAt, name: 'New', payload: 'null', timeoutMs: 1000 }
    expect((await changePendingTask(db.pool, task.workspaceId, task.id, change)).kind).toBe('moved')
    const row = await taskRow(db.pool, task.id)
    expect(row).toMatchObject({ name: 'New', payload: 'null', timeout_ms: 1000, url: task.url, headers: task.headers })
    expect([row.execute_at, row.due_at]).toEqual([executeAt, executeAt])
  })

  it('refuses a time that is not in the future, and changes nothing then', async () => {
    const task = await pending()
    const change = { executeAt: new Date(Date.now() - 1000), name: 'New' }
    expect(await changePendingTask(db.pool, task.workspaceId, task.id, change)).toEqual({ kind: 'not_future' })
    expect((await taskRow(db.pool, task.id)).name).toBe(task.name)
  })

  it('does not know the task of another workspace, and refuses one that has started', async () => {
    const task = aTask()
    await insertTasks(db.pool, [task])
    expect(await changePendingTask(db.pool, randomUUID(), task.id, { name: 'x' })).toEqual({
      kind: 'refused',
      state: null,
    })
    await claimAll(db.pool, [task.id])
    const result = await changePendingTask(db.pool, task.workspaceId, task.id, { name: 'x' })
    expect(result).toEqual({ kind: 'refused', state: 'processing' })
  })
})
