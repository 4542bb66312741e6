import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCronJob } from '../src/cron-jobs/change-cron-job.ts'
import { windDownWorkspace, workspacesToWindDown } from '../src/purge/wind-down-workspace.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { aTask, aWorkspace, claimAll, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()
const inAnHour = () => new Date(Date.now() + 3_600_000)

async function deleteWorkspace(workspaceId: string, secondsAgo = 0): Promise<void> {
  const text = `UPDATE workspaces SET deleted_at = now() - $2 * interval '1 second' WHERE id = $1`
  await db.pool.query(text, [workspaceId, secondsAgo])
}

async function storeTask(workspaceId: string, state: 'pending' | 'retrying' = 'pending'): Promise<string> {
  const task = aTask({ workspaceId })
  await insertTasks(db.pool, [task])
  await db.pool.query('UPDATE tasks SET state = $2, attempts = $3 WHERE id = $1', [
    task.id,
    state,
    Number(state !== 'pending'),
  ])
  return task.id
}

describe('a deleted workspace', () => {
  it.each(['pending', 'retrying'] as const)('loses its due %s task to the claim, which cancels it', async state => {
    const workspaceId = await aWorkspace(db.pool)
    const taskId = await storeTask(workspaceId, state)
    const other = aTask()
    await insertTasks(db.pool, [other])
    await deleteWorkspace(workspaceId)
    const claims = await claimAll(db.pool, [taskId, other.id])
    expect(claims.map(({ kind }) => kind)).toEqual(['gone', 'claimed'])
    const row = await taskRow(db.pool, taskId)
    expect(row).toMatchObject({ state: 'cancelled', state_reason: 'workspace_deleted', lease_until: null })
    expect(row.finished_at).not.toBeNull()
  })

  it('loses its cron jobs and waiting tasks in batches; tasks in flight and other workspaces stay', async () => {
    const workspaceId = await aWorkspace(db.pool)
    const another = await aWorkspace(db.pool)
    const tasks = Array.from({ length: 600 }, () => aTask({ workspaceId, executeAt: inAnHour() }))
    await insertTasks(db.pool, tasks)
    const [retrying, running, kept] = [
      await storeTask(workspaceId, 'retrying'),
      await storeTask(workspaceId),
      await storeTask(another),
    ]
    expect((await claimAll(db.pool, [running]))[0]?.kind).toBe('claimed')
    for (const owner of [workspaceId, another]) await createCronJob(db.pool, aCronJob(owner), 0)
    await deleteWorkspace(workspaceId, 61)
    const ended = [1, 2, 3].map(() => windDownWorkspace(db.pool, workspaceId))
    for (const count of await Promise.all(ended)) expect(count).toBeLessThanOrEqual(502)
    while ((await windDownWorkspace(db.pool, workspaceId)) > 0);
    const { rows } = await db.pool.query(
      `SELECT state, state_reason AS reason, count(*)::int AS n FROM tasks WHERE workspace_id = $1 GROUP BY 1, 2 ORDER BY 1`,
      [workspaceId],
    )
    expect(rows).toEqual([
      { state: 'processing', reason: null, n: 1 },
      { state: 'cancelled', reason: 'workspace_deleted', n: 601 },
    ])
    expect((await taskRow(db.pool, retrying)).state).toBe('cancelled')
    expect((await taskRow(db.pool, kept)).state).toBe('pending')
    const cronJobs = await db.pool.query('SELECT workspace_id FROM cron_jobs')
    expect(cronJobs.rows).toEqual([{ workspace_id: another }])
    expect(await workspacesToWindDown(db.pool)).toContain(workspaceId)
    await db.pool.query(`UPDATE tasks SET state = 'success', lease_until = NULL WHERE id = $1`, [running])
    await windDownWorkspace(db.pool, workspaceId)
    expect(await workspacesToWindDown(db.pool)).not.toContain(workspaceId)
  })

  it('is checked for a minute more, because a process that has cached its key may still store tasks', async () => {
    const workspaceId = await aWorkspace(db.pool)
    await deleteWorkspace(workspaceId)
    expect(await windDownWorkspace(db.pool, workspaceId)).toBe(0)
    expect(await workspacesToWindDown(db.pool)).toContain(workspaceId)
  })

  it('and a workspace that is not deleted stays unchanged', async () => {
    const workspaceId = await aWorkspace(db.pool)
    const taskId = await storeTask(workspaceId)
    expect(await windDownWorkspace(db.pool, workspaceId)).toBe(0)
    expect((await claimAll(db.pool, [taskId]))[0]?.kind).toBe('claimed')
  })
})

function aCronJob(workspaceId: string) {
  return {
    ...{ id: randomUUID(), workspaceId, name: 'A cron job', cron: '0 0 1 1 *', timezone: 'UTC' },
    ...({ startsAt: null, endsAt: null, overlap: 'allow', catchUp: 'latest' } as const),
    ...({ url: 'https://example.com', method: 'POST', headers: '{}', payload: null } as const),
    ...({ maxRetries: 0, backoff: 'fixed', baseDelayMs: 1000, maxDelayMs: 1000, timeoutMs: 1000 } as const),
  }
}
