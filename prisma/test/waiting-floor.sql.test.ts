import { newUuid } from '@belfry/domain/id'
import { beforeEach, describe, expect, it } from 'vitest'
import { expandCronJobs } from '../src/cron-jobs/expand-cron-jobs.ts'
import { holdOverdueTasks, releaseHeldTasks } from '../src/migrate/held-tasks.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { openLateSearch } from '../src/tasks/late-work.ts'
import { measureBacklog } from '../src/tasks/measure-backlog.ts'
import { mendWaitingFloor, raiseWaitingFloor } from '../src/tasks/waiting-floor.ts'
import { aTask, aWorkspace, useDatabase } from './setup.ts'

const db = useDatabase()
const minuteMs = 60_000
const hourAgo = () => new Date(Date.now() - 60 * minuteMs)

async function readFloor(): Promise<{ dueAt: Date; leaseUntil: Date }> {
  const { rows } = await db.pool.query('SELECT due_at AS "dueAt", lease_until AS "leaseUntil" FROM waiting_floor')
  return rows[0]
}

async function storeDue(dueAt: Date, workspaceId = newUuid()): Promise<string> {
  const task = aTask({ id: newUuid(), workspaceId })
  await insertTasks(db.pool, [task])
  await db.pool.query('UPDATE tasks SET due_at = $2 WHERE id = $1', [task.id, dueAt])
  return task.id
}

const finish = () =>
  db.pool.query(`UPDATE tasks SET state = 'success', lease_until = NULL, finished_at = now() WHERE finished_at IS NULL`)

const lateWorkspaces = async () => [...(await openLateSearch(db.pool)(3_000)).keys()]

beforeEach(async () => {
  await finish()
  await raiseWaitingFloor(db.pool)
})

describe('the floor of waiting work', () => {
  it('stays at the first waiting task, or a minute behind the clock', async () => {
    const floor = await readFloor()
    expect(Date.now() - floor.dueAt.getTime()).toBeGreaterThan(minuteMs - 1_000)
    expect(Date.now() - floor.dueAt.getTime()).toBeLessThan(minuteMs + 10_000)
    await db.pool.query(`UPDATE waiting_floor SET due_at = now() - interval '2 hours', lease_until = due_at`)
    const [dueAt, leaseUntil] = [hourAgo(), new Date(Date.now() - 70 * minuteMs)]
    await storeDue(dueAt)
    const claimed = await storeDue(hourAgo())
    await db.pool.query(`UPDATE tasks SET state = 'processing', lease_until = $2 WHERE id = $1`, [claimed, leaseUntil])
    await db.pool.query(`UPDATE waiting_floor SET lease_until = now() - interval '2 hours'`)
    await raiseWaitingFloor(db.pool)
    expect(await readFloor()).toEqual({ dueAt, leaseUntil })
    expect((await measureBacklog(db.pool)).leaseOverdueSeconds).toBeGreaterThan(4_000)
  })

  it('follows the clock when it is set back', async () => {
    await db.pool.query(`UPDATE waiting_floor SET due_at = now() + interval '1 hour', lease_until = due_at`)
    await raiseWaitingFloor(db.pool)
    expect((await readFloor()).dueAt.getTime()).toBeLessThan(Date.now())
  })

  it('is lowered to released tasks', async () => {
    const workspaceId = newUuid()
    const dueAt = hourAgo()
    await storeDue(dueAt, workspaceId)
    await holdOverdueTasks(db.pool)
    await raiseWaitingFloor(db.pool)
    expect(await lateWorkspaces()).toEqual([])
    expect(await releaseHeldTasks(db.pool)).toBe(1)
    expect((await readFloor()).dueAt).toEqual(dueAt)
    expect(await lateWorkspaces()).toEqual([workspaceId])
  })

  it('is lowered to occurrences that are caught up on', async () => {
    const workspaceId = await aWorkspace(db.pool)
    const text = `
      INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, url, method, headers,
                             max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, next_run_at)
      VALUES ($1, $2, 'n', '* * * * *', 'UTC', 'allow', 'all', 'https://example.com/', 'POST', '{}',
              0, 'fixed', 1000, 1000, 1000, date_trunc('minute', now() - interval '10 minutes'))`
    await db.pool.query(text, [newUuid(), workspaceId])
    await expandCronJobs(db.pool, { lookAheadMs: 0, limit: 10 })
    expect(await lateWorkspaces()).toEqual([workspaceId])
  })

  // Makes a task wait again, as the undo of a claim does.
  const putBack = `UPDATE tasks SET state = 'pending', lease_until = NULL WHERE id = $1`

  it('does not rise above a task that waits again at the same time, in either order', async () => {
    for (const order of ['the task first', 'the floor first']) {
      const workspaceId = newUuid()
      const id = await storeDue(hourAgo(), workspaceId)
      await db.pool.query(`UPDATE waiting_floor SET due_at = now() - interval '2 hours'`)
      await db.pool.query(
        `UPDATE tasks SET state = 'processing', lease_until = now() + interval '1 minute' WHERE id = $1`,
        [id],
      )
      const client = await db.pool.connect()
      await client.query('BEGIN')
      await client.query('SELECT 1')
      if (order === 'the task first') await client.query(putBack, [id])
      const raised = raiseWaitingFloor(db.pool)
      if (order === 'the floor first') await raised.then(() => client.query(putBack, [id]))
      await client.query('COMMIT')
      client.release()
      await raised
      expect(await lateWorkspaces(), order).toEqual([workspaceId])
      await finish()
    }
  })

  it('takes no lock for tasks that wait again in time', async () => {
    const id = await storeDue(new Date())
    const client = await db.pool.connect()
    try {
      await client.query('BEGIN')
      await client.query('SELECT FROM waiting_floor FOR UPDATE')
      expect((await db.pool.query(putBack, [id])).rowCount).toBe(1)
    } finally {
      client.release(true)
    }
  })

  it('is lowered to a task that was changed manually', async () => {
    const [workspaceId, dueAt] = [newUuid(), hourAgo()]
    await storeDue(dueAt, workspaceId)
    expect(await lateWorkspaces()).toEqual([workspaceId])
    expect(await readFloor()).toMatchObject({ dueAt })
  })

  it('is lowered by the safety net to a task of a transaction that was slow to commit', async () => {
    const [workspaceId, dueAt] = [newUuid(), hourAgo()]
    await storeDue(dueAt, workspaceId)
    await db.pool.query(`UPDATE waiting_floor SET due_at = now() - interval '1 minute'`)
    expect(await lateWorkspaces()).toEqual([])
    expect(await mendWaitingFloor(db.pool)).toEqual(dueAt)
    expect(await mendWaitingFloor(db.pool)).toBeNull()
    expect(await lateWorkspaces()).toEqual([workspaceId])
  })
})
