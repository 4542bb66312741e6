import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { type PutBack, putBackTasks } from '../src/index.ts'
import { claimAll, claimNew, claimOne, runRows, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

async function putBack(task: PutBack) {
  const [waiting] = await putBackTasks(db.pool, [task])
  return waiting
}

it('makes a task wait again, with no attempt counted and no run', async () => {
  const task = await claimNew(db.pool)
  const waiting = await putBack({ ...task, delayMs: 60_000 })
  expect(Number(waiting?.dueAt) - Number(waiting?.now)).toBeGreaterThan(59_000)
  expect(await taskRow(db.pool, task.taskId)).toMatchObject({ state: 'retrying', attempts: 0, lease_until: null })
  expect(await runRows(db.pool, task.taskId)).toEqual([])
  expect(await claimAll(db.pool, [task.taskId])).toMatchObject([{ kind: 'early' }])
})

it('leaves the number of the attempt to the next one', async () => {
  const task = await claimNew(db.pool)
  await putBack({ ...task, delayMs: 0 })
  const next = await claimOne(db.pool, task.taskId)
  expect(next.attempt).toBe(1)
  expect(next.runId).not.toBe(task.runId)
})

it('does nothing for whoever has lost the claim, or names another workspace', async () => {
  const task = await claimNew(db.pool)
  expect(await putBack({ ...task, workspaceId: randomUUID(), delayMs: 0 })).toBeNull()
  expect(await taskRow(db.pool, task.taskId)).toMatchObject({ state: 'processing', attempts: 1 })
  await putBack({ ...task, delayMs: 0 })
  await claimOne(db.pool, task.taskId)
  expect(await putBack({ ...task, delayMs: 0 })).toBeNull()
  expect(await taskRow(db.pool, task.taskId)).toMatchObject({ state: 'processing', attempts: 1 })
})

it('puts many back at once, due when they were, and tells of each what became of it', async () => {
  const [one, lost, two] = [await claimNew(db.pool), await claimNew(db.pool), await claimNew(db.pool)]
  const given = await putBackTasks(db.pool, [one, { ...lost, runId: randomUUID() }, two])
  expect(given.map(waiting => waiting?.dueAt ?? null)).toEqual([one.scheduledAt, null, two.scheduledAt])
  expect(await taskRow(db.pool, two.taskId)).toMatchObject({ state: 'retrying', attempts: 0 })
  expect(await taskRow(db.pool, lost.taskId)).toMatchObject({ state: 'processing', attempts: 1 })
})
