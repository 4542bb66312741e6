import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { advanceQueues } from '../src/queues/advance-queues.ts'
import { nameQueue } from '../src/queues/queues.ts'
import { endTask } from '../src/tasks/change-task.ts'
import type { Claim } from '../src/tasks/claimed-row.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { recordAttempts } from '../src/tasks/record-attempts.ts'
import { type UnstartedClaim, undoClaims } from '../src/tasks/undo-claims.ts'
import { aTask, aWorkspace, claimAll, claimNew, claimOne, finished, runRows, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

async function undo(claim: UnstartedClaim) {
  const [waiting] = await undoClaims(db.pool, [claim])
  return waiting
}

it('makes a task pending again, with no attempt counted and no run', async () => {
  const task = await claimNew(db.pool)
  const waiting = await undo({ ...task, delayMs: 60_000 })
  expect(Number(waiting?.dueAt) - Number(waiting?.now)).toBeGreaterThan(59_000)
  expect(await taskRow(db.pool, task.taskId)).toMatchObject({ state: 'pending', attempts: 0, lease_until: null })
  expect(await runRows(db.pool, task.taskId)).toEqual([])
  expect(await claimAll(db.pool, [task.taskId])).toMatchObject([{ kind: 'early' }])
})

it('allows a task that was claimed before to be cancelled', async () => {
  const task = await claimNew(db.pool)
  const cancel = () => endTask(db.pool, task.workspaceId, task.taskId, 'cancel')
  expect(await cancel()).toMatchObject({ kind: 'refused', state: 'processing', isUnsent: false })
  await undo({ ...task, delayMs: 0 })
  expect(await cancel()).toMatchObject({ kind: 'moved' })
  expect(await claimAll(db.pool, [task.taskId])).toEqual([{ kind: 'gone' }])
})

it('gives the number of the attempt to the next one', async () => {
  const task = await claimNew(db.pool)
  await undo({ ...task, delayMs: 0 })
  const next = await claimOne(db.pool, task.taskId)
  expect(next.attempt).toBe(1)
  expect(next.runId).not.toBe(task.runId)
})

it('does nothing for a claim that no longer stands, or of another workspace', async () => {
  const task = await claimNew(db.pool)
  expect(await undo({ ...task, workspaceId: randomUUID(), delayMs: 0 })).toBeNull()
  expect(await taskRow(db.pool, task.taskId)).toMatchObject({ state: 'processing', attempts: 1 })
  await undo({ ...task, delayMs: 0 })
  await claimOne(db.pool, task.taskId)
  expect(await undo({ ...task, delayMs: 0 })).toBeNull()
  expect(await taskRow(db.pool, task.taskId)).toMatchObject({ state: 'processing', attempts: 1 })
})

it('undoes many at once, keeps their due times, and answers for each of them', async () => {
  const [one, lost, two] = [await claimNew(db.pool), await claimNew(db.pool), await claimNew(db.pool)]
  const given = await undoClaims(db.pool, [one, { ...lost, runId: randomUUID() }, two])
  expect(given.map(waiting => waiting?.dueAt ?? null)).toEqual([one.scheduledAt, null, two.scheduledAt])
  expect(await taskRow(db.pool, two.taskId)).toMatchObject({ state: 'pending', attempts: 0 })
  expect(await taskRow(db.pool, lost.taskId)).toMatchObject({ state: 'processing', attempts: 1 })
})

describe('in a queue with a rate limit', () => {
  /** Stores a queue, and tasks that are due now, each later than the one before. */
  async function aQueue(count: number, periodMs: number, tasks: number) {
    const workspaceId = await aWorkspace(db.pool)
    const id = (await nameQueue(db.pool, workspaceId, 'q', { rateLimit: { count, periodMs } })) ?? ''
    const ids: string[] = []
    for (let i = 0; i < tasks; i++) {
      const task = aTask({ workspaceId, queue: 'q' })
      await insertTasks(db.pool, [task])
      ids.push(task.id)
      await sleep(2)
    }
    return { id, tasks: ids }
  }

  function claimed(claim: Claim | undefined) {
    if (claim?.kind !== 'claimed') throw new Error(`Not claimed but ${claim?.kind}.`)
    return claim.task
  }

  const kinds = (claims: Claim[]) => claims.map(({ kind }) => kind)

  it('gives the start back, once, and only of an attempt that never started', async () => {
    const { id, tasks } = await aQueue(3, 600_000, 4)
    const [first, second, third] = (await claimAll(db.pool, tasks.slice(0, 3))).map(claimed)
    if (!first || !second || !third) throw new Error('Not three claims.')
    expect(kinds(await claimAll(db.pool, tasks.slice(3)))).toEqual(['blocked'])
    await recordAttempts(db.pool, [finished(second)])
    await undoClaims(db.pool, [first, second, third])
    expect(await undoClaims(db.pool, [first])).toEqual([null])
    // The two tasks that are due take both permits.
    expect(await advanceQueues(db.pool, [id])).toBe(0)
    expect(kinds(await claimAll(db.pool, [third.taskId, first.taskId]))).toEqual(['claimed', 'claimed'])
    expect(await advanceQueues(db.pool, [id])).toBe(0)
  })

  it('wakes the next task at the end of the period of a start that stands', async () => {
    const { id, tasks } = await aQueue(1, 1_700, 2)
    const [first = '', second = ''] = tasks
    const [undone] = await claimAll(db.pool, [first])
    await undo(claimed(undone))
    await sleep(200)
    const [again] = await claimAll(db.pool, [first])
    expect(kinds(await claimAll(db.pool, [second]))).toEqual(['blocked'])
    expect(await advanceQueues(db.pool, [id])).toBe(1)
    const { due_at: dueAt } = await taskRow(db.pool, second)
    expect(dueAt.getTime()).toBe(claimed(again).claimedAt.getTime() + 1_700)
  })

  it('gives back no start that is over', async () => {
    const { id, tasks } = await aQueue(1, 50, 2)
    const [first = '', second = ''] = tasks
    const [undone] = await claimAll(db.pool, [first])
    await sleep(60)
    expect(kinds(await claimAll(db.pool, [second]))).toEqual(['claimed'])
    await undo(claimed(undone))
    const { rows } = await db.pool.query('SELECT starts FROM queue_starts WHERE queue_id = $1', [id])
    expect(rows).toEqual([{ starts: 1 }])
  })
})
