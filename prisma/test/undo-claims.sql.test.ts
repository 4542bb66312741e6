import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { cancelPendingTask } from '../src/tasks/change-task.ts'
import { type UnstartedClaim, undoClaims } from '../src/tasks/undo-claims.ts'
import { claimAll, claimNew, claimOne, runRows, taskRow, useDatabase } from './setup.ts'

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
  const cancel = () => cancelPendingTask(db.pool, task.workspaceId, task.taskId)
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
