import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import type { Pool } from '../src/postgres/pool.ts'
import { changePendingTask, endTask, untilDecided } from '../src/tasks/change-task.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { journalSends } from '../src/tasks/send-journal.ts'
import { undoClaims } from '../src/tasks/undo-claims.ts'
import { claimTasks } from './claim-tasks.ts'
import { aTask, claimAll, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

async function pending() {
  const task = aTask({ executeAt: new Date(Date.now() + 60_000) })
  await insertTasks(db.pool, [task])
  return task
}

describe('endTask', () => {
  it('cancels a pending task once', async () => {
    const task = await pending()
    expect((await endTask(db.pool, task.workspaceId, task.id, 'cancel')).kind).toBe('moved')
    expect(await taskRow(db.pool, task.id)).toMatchObject({ state: 'cancelled', state_reason: 'user' })
    expect(await endTask(db.pool, task.workspaceId, task.id, 'cancel')).toMatchObject({
      kind: 'refused',
      state: 'cancelled',
    })
  })

  it('refuses a task that has started (spec 4, rule 3)', async () => {
    const task = aTask()
    await insertTasks(db.pool, [task])
    await claimAll(db.pool, [task.id])
    expect(await endTask(db.pool, task.workspaceId, task.id, 'cancel')).toMatchObject({
      kind: 'refused',
      state: 'processing',
    })
  })

  it('waits until a prefetched task is sent or undone, so a refusal means a started attempt', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const { id: dispatcherId, session } = dispatcher
    const [sent, undone] = [aTask(), aTask()]
    await insertTasks(db.pool, [sent, undone])
    await sleep(2)
    const requests = [sent, undone].map(({ id }) => ({ taskId: id, token: randomUUID(), isPrefetch: true }))
    const claims = await claimTasks(db.pool, { dispatcherId }, requests)
    const [first, second] = claims.flatMap(claim => (claim.kind === 'claimed' ? [claim.task] : []))
    if (!first || !second) throw new Error('Not claimed.')
    const cancels = [sent, undone].map(task =>
      untilDecided(() => endTask(db.pool, task.workspaceId, task.id, 'cancel')),
    )
    const change = untilDecided(() => changePendingTask(db.pool, sent.workspaceId, sent.id, { payload: '2' }))
    await sleep(100)
    await journalSends(db.pool, { dispatcherId, session, seq: 1, runIds: [first.runId] })
    await undoClaims(db.pool, [second])
    expect((await Promise.all(cancels)).map(({ kind }) => kind)).toEqual(['refused', 'moved'])
    expect(await taskRow(db.pool, undone.id)).toMatchObject({ state: 'cancelled', attempts: 0 })
    expect(await change).toMatchObject({ kind: 'refused', state: 'processing' })
  })

  it('moves a task whose claim is undone between the refusal and the look at its state', async () => {
    const { id: dispatcherId } = await enterDispatchers(db.pool)
    const moves = [
      (pool: Pool, workspaceId: string, id: string) => endTask(pool, workspaceId, id, 'cancel'),
      (pool: Pool, workspaceId: string, id: string) => changePendingTask(pool, workspaceId, id, { payload: '2' }),
    ]
    for (const move of moves) {
      const task = aTask()
      await insertTasks(db.pool, [task])
      await sleep(2)
      const requests = [{ taskId: task.id, token: randomUUID(), isPrefetch: true }]
      const [claim] = await claimTasks(db.pool, { dispatcherId }, requests)
      if (claim?.kind !== 'claimed') throw new Error('Not claimed.')
      const undoing = {
        async query(statement: { name?: string }) {
          if (statement.name === 'task_state') await undoClaims(db.pool, [claim.task])
          return db.pool.query(statement as never)
        },
      } as unknown as Pool
      expect(await move(undoing, task.workspaceId, task.id)).toMatchObject({ kind: 'moved' })
    }
  })

  it('does not find the task of another workspace', async () => {
    const task = await pending()
    expect(await endTask(db.pool, randomUUID(), task.id, 'cancel')).toMatchObject({ kind: 'refused', state: null })
    expect((await taskRow(db.pool, task.id)).state).toBe('pending')
  })

  it('never wins together with a claim', async () => {
    const tasks = Array.from({ length: 100 }, () => aTask())
    await insertTasks(db.pool, tasks)
    const cancels = tasks.map(task => endTask(db.pool, task.workspaceId, task.id, 'cancel'))
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
  it('changes the given fields and keeps the others', async () => {
    const task = await pending()
    const executeAt = new Date(Date.now() + 120_000)
    const change = { executeAt, name: 'New', payload: 'null', timeoutMs: 1000 }
    expect((await changePendingTask(db.pool, task.workspaceId, task.id, change)).kind).toBe('moved')
    const row = await taskRow(db.pool, task.id)
    expect(row).toMatchObject({ name: 'New', payload: 'null', timeout_ms: 1000, url: task.url, headers: task.headers })
    expect([row.execute_at, row.due_at]).toEqual([executeAt, executeAt])
  })

  it.each([
    ['its name', { name: 'New' }, true],
    ['its payload', { payload: '{"forged":1}' }, false],
    ['its URL', { url: 'https://other.example/' }, false],
  ])('leaves the secret of a subscription to what was published: %s', async (_, change, isKept) => {
    const task = { ...aTask({ executeAt: new Date(Date.now() + 60_000) }), subscriptionId: randomUUID() }
    await insertTasks(db.pool, [task])
    await changePendingTask(db.pool, task.workspaceId, task.id, change)
    expect((await taskRow(db.pool, task.id)).subscription_id).toBe(isKept ? task.subscriptionId : null)
  })

  it('refuses a time that is not in the future, and changes nothing', async () => {
    const task = await pending()
    const change = { executeAt: new Date(Date.now() - 1000), name: 'New' }
    expect(await changePendingTask(db.pool, task.workspaceId, task.id, change)).toEqual({ kind: 'not_future' })
    expect((await taskRow(db.pool, task.id)).name).toBe(task.name)
  })

  it('does not find the task of another workspace, and refuses a started one', async () => {
    const task = aTask()
    await insertTasks(db.pool, [task])
    expect(await changePendingTask(db.pool, randomUUID(), task.id, { name: 'x' })).toMatchObject({
      kind: 'refused',
      state: null,
    })
    await claimAll(db.pool, [task.id])
    const result = await changePendingTask(db.pool, task.workspaceId, task.id, { name: 'x' })
    expect(result).toMatchObject({ kind: 'refused', state: 'processing' })
  })
})
