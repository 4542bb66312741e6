import { newUuid } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { deleteOldRuns, deleteTasks } from '../../src/retention/expire-log.ts'
import { changePendingTask, endTask } from '../../src/tasks/change-task.ts'
import type { ClaimedTask } from '../../src/tasks/claimed-row.ts'
import { insertTasks } from '../../src/tasks/insert-tasks.ts'
import { recordAttempts } from '../../src/tasks/record-attempts.ts'
import { foldUsageChanges } from '../../src/usage/fold-usage-changes.ts'
import { readDailyUsage, readUsage } from '../../src/usage/read-usage.ts'
import { anOrganization, aTask, claimAll, claimNew, finished, taskRow, useDatabase } from '../setup.ts'

const db = useDatabase()

async function storedBytes(organizationId: string): Promise<number | undefined> {
  while ((await foldUsageChanges(db.pool, 1000)) > 0);
  return (await readUsage(db.pool, organizationId))?.storageBytes
}

async function record(
  task: ClaimedTask,
  state: 'success' | 'dead',
  body: string | null,
  responseHeaders = '{}',
): Promise<void> {
  await recordAttempts(db.pool, [
    finished(task, {
      ...{ state, responseHeaders, status: state === 'success' ? 'success' : 'failed' },
      responseBody: body === null ? null : Buffer.from(body),
    }),
  ])
}

describe('storage', () => {
  it('grows with payloads and captured bodies, in bytes', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const task = await claimNew(db.pool, { workspaceId, payload: '"zwölf"' })
    expect(await storedBytes(organizationId)).toBe(8)
    await record(task, 'success', 'ein Körper')
    await record(await claimNew(db.pool, { workspaceId, payload: null }), 'dead', null)
    expect(await storedBytes(organizationId)).toBe(19)
    const today = (await readDailyUsage(db.pool, organizationId)).at(-1)
    expect(today).toMatchObject({ date: new Date().toISOString().slice(0, 10), executions: 2, failed: 1 })
  })

  it('follows the change of an unsent payload', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const task = aTask({ workspaceId, payload: '"1234"' })
    await insertTasks(db.pool, [task])
    await changePendingTask(db.pool, workspaceId, task.id, { payload: '"123456789"' })
    expect(await storedBytes(organizationId)).toBe(11)
    await changePendingTask(db.pool, workspaceId, task.id, { payload: null })
    expect(await storedBytes(organizationId)).toBe(0)
    await changePendingTask(db.pool, workspaceId, task.id, { name: 'another' })
    expect(await storedBytes(organizationId)).toBe(0)
  })

  it('grows with names, URLs, headers and callbacks beyond a kilobyte, and falls with them', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const short = { id: newUuid(), workspaceId, name: 'n', url: 'https://a.example/', payload: null }
    const task = aTask({ ...short, executeAt: new Date(Date.now() + 3_600_000), headers: 'h'.repeat(1_100) })
    await insertTasks(db.pool, [task, aTask({ ...short, id: newUuid(), headers: 'h'.repeat(1_005) })])
    expect(await storedBytes(organizationId)).toBe(1_100 + 1 + 18 - 1_024)
    await changePendingTask(db.pool, workspaceId, task.id, { name: 'nn' })
    expect(await storedBytes(organizationId)).toBe(96)
    await changePendingTask(db.pool, workspaceId, task.id, { headers: '{}' })
    expect(await storedBytes(organizationId)).toBe(0)
    await changePendingTask(db.pool, workspaceId, task.id, { url: `https://a.example/${'u'.repeat(2_000)}` })
    expect(await storedBytes(organizationId)).toBe(2 + 2_018 + 2 - 1_024)
    await endTask(db.pool, workspaceId, task.id, 'cancel')
    await deleteTasks(db.pool, 'cancelled', workspaceId, -1, 10)
    expect(await storedBytes(organizationId)).toBe(0)
  })

  it('falls by what was counted for a task, however large its request is', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const task = aTask({ id: newUuid(), workspaceId, payload: '"1234"', executeAt: new Date(Date.now() + 3_600_000) })
    await insertTasks(db.pool, [task])
    await db.pool.query(`UPDATE task_requests SET headers = repeat('h', 5000) WHERE task_id = $1`, [task.id])
    await changePendingTask(db.pool, workspaceId, task.id, { executeAt: new Date(Date.now() + 7_200_000) })
    expect(await storedBytes(organizationId)).toBe(6)
    await endTask(db.pool, workspaceId, task.id, 'cancel')
    await deleteTasks(db.pool, 'cancelled', workspaceId, -1, 10)
    expect(await storedBytes(organizationId)).toBe(0)
  })

  it('grows with the headers of a run beyond four kilobytes, and falls with the run', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const task = await claimNew(db.pool, { workspaceId, payload: null })
    await record(task, 'success', null, 'h'.repeat(6_000))
    expect(await storedBytes(organizationId)).toBe(2 + 6_000 - 4_096)
    await deleteOldRuns(db.pool, workspaceId, -1, 10)
    expect(await storedBytes(organizationId)).toBe(0)
  })

  it('is exact when four callers fold at once', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const insert = () => insertTasks(db.pool, [aTask({ workspaceId, payload: '1' })])
    const fold = () => foldUsageChanges(db.pool, 7)
    await Promise.all(Array.from({ length: 200 }, (_, i) => (i % 4 === 0 ? fold() : insert())))
    expect(await storedBytes(organizationId)).toBe(150)
  })

  it('over the quota cancels due tasks with the reason, and counts no execution', async () => {
    const { organizationId, workspaceId } = await anOrganization(db.pool)
    const fill = (bytes: number) =>
      db.pool.query('UPDATE storage SET bytes = $2 WHERE organization_id = $1', [organizationId, bytes])
    const retrying = await claimNew(db.pool, { workspaceId, payload: '1' })
    expect(await storedBytes(organizationId)).toBe(1)
    await fill(100_000_000)
    await claimNew(db.pool, { workspaceId, payload: null }) // the quota itself may be used
    await fill(100_000_001)
    const task = aTask({ workspaceId })
    await insertTasks(db.pool, [task])
    expect(await claimAll(db.pool, [task.id])).toEqual([{ kind: 'gone', refusal: 'storage_quota' }])
    expect(await taskRow(db.pool, task.id)).toMatchObject({ state: 'cancelled', state_reason: 'storage_quota' })
    expect((await readUsage(db.pool, organizationId))?.executions).toBe(2)
    const text = `UPDATE tasks SET state = 'retrying', lease_until = NULL WHERE id = $1`
    await db.pool.query(text, [retrying.taskId])
    expect(await claimAll(db.pool, [retrying.taskId])).toMatchObject([{ kind: 'claimed' }])
  })
})
