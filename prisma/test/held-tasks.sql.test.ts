import { afterEach, expect, it, onTestFinished } from 'vitest'
import { startBulkOperation } from '../src/bulk-operations/bulk-operations.ts'
import { stepBulkOperation } from '../src/bulk-operations/step-bulk-operation.ts'
import { expandCronJobs } from '../src/cron-jobs/expand-cron-jobs.ts'
import { findStuckWork } from '../src/dispatchers/find-stuck-work.ts'
import { readHeartbeats } from '../src/dispatchers/heartbeat.ts'
import { holdOverdueTasks, releaseHeldTasks } from '../src/migrate/held-tasks.ts'
import { holdOverdue } from '../src/migrate/operator-commands.ts'
import { expireTasks } from '../src/tasks/expire-tasks.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { aTask, aWorkspace, claimAll, taskRow, useDatabase } from './setup.ts'
import { testDatabase } from './setup-migrations.ts'

const db = useDatabase()
const hour = 3_600_000
afterEach(() => db.pool.query('TRUNCATE cron_jobs, tasks, task_requests CASCADE'))

it('holds tasks that were due or in flight, skips future ones, and releases them unchanged', async () => {
  const [due, inFlight, future] = [aTask(), aTask(), aTask({ executeAt: new Date(Date.now() + 60_000) })]
  await insertTasks(db.pool, [due, inFlight, future])
  await claimAll(db.pool, [inFlight.id])
  await db.pool.query(`UPDATE tasks SET lease_until = now() - interval '1 ms' WHERE id = $1`, [inFlight.id])
  const read = async () => {
    const rows = await Promise.all([due, inFlight, future].map(({ id }) => taskRow(db.pool, id)))
    return rows.map(({ state, due_at, lease_until }) => ({ state, due_at, lease_until }))
  }
  const before = await read()
  expect(await readHeartbeats(db.pool)).toHaveLength(1)

  expect(await holdOverdueTasks(db.pool)).toEqual({ tasks: 2, cronJobs: [], operations: 0 })
  expect(await holdOverdueTasks(db.pool)).toEqual({ tasks: 0, cronJobs: [], operations: 0 })
  expect((await claimAll(db.pool, [due.id]))[0]?.kind).toBe('gone')
  expect(await readHeartbeats(db.pool)).toEqual([]) // no scheduler ends the attempt
  expect(await read()).toEqual(before) // their times stay as they are

  expect(await releaseHeldTasks(db.pool)).toBe(2)
  expect(await read()).toEqual(before)
})

it('holds open operations, and lets them continue after the release of their workspace', async () => {
  onTestFinished(async () => void (await db.pool.query('DELETE FROM bulk_operations')))
  const [workspaceId, other] = [await aWorkspace(db.pool), await aWorkspace(db.pool)]
  const dead = aTask({ workspaceId })
  await insertTasks(db.pool, [dead])
  await db.pool.query(`UPDATE tasks SET state = 'dead', finished_at = now() - interval '1 s'`)
  const start = (id: string, action: 'replay' | 'cancel') =>
    startBulkOperation(db.pool, id, { action, filter: {}, perSecond: null })
  await start(workspaceId, 'replay')
  for (const id of [workspaceId, other]) await start(id, 'cancel')
  const step = async () => [await stepBulkOperation(db.pool, 10), await stepBulkOperation(db.pool, 10)]

  expect(await holdOverdueTasks(db.pool)).toMatchObject({ operations: 3 })
  expect(await holdOverdueTasks(db.pool)).toMatchObject({ operations: 0 })
  expect(await findStuckWork(db.pool)).toMatchObject({ heldTasks: 0, heldOperations: 3 })
  expect(await step()).toEqual([null, null])

  await releaseHeldTasks(db.pool, workspaceId)
  expect(await findStuckWork(db.pool)).toMatchObject({ heldOperations: 1 })
  expect(await step()).toMatchObject([{ done: 1 }, { done: 0 }])
  expect((await taskRow(db.pool, dead.id)).settled_at).toBeInstanceOf(Date)
  expect(await step()).toEqual([null, null])
})

it('releases the tasks of one workspace, first those due first, in batches', async () => {
  const [workspaceId, other] = [await aWorkspace(db.pool), await aWorkspace(db.pool)]
  const mine = Array.from({ length: 5 }, (_, i) =>
    aTask({ workspaceId, executeAt: new Date(Date.now() + (5 - i) * 60_000) }),
  )
  const foreign = aTask({ workspaceId: other })
  await insertTasks(db.pool, [...mine, foreign])
  expect((await holdOverdueTasks(db.pool, new Date(Date.now() + hour))).tasks).toBe(6)
  const isHeld = async () => {
    const rows = await Promise.all([...mine, foreign].map(({ id }) => taskRow(db.pool, id)))
    return rows.map(({ waits_for }) => waits_for === 2)
  }
  expect(await releaseHeldTasks(db.pool, workspaceId, 2)).toBe(2)
  expect(await isHeld()).toEqual([true, true, true, false, false, true])
  expect(await releaseHeldTasks(db.pool, workspaceId, 2)).toBe(2)
  expect(await releaseHeldTasks(db.pool, workspaceId, 2)).toBe(1)
  expect(await isHeld()).toEqual([false, false, false, false, false, true])
  expect(await releaseHeldTasks(db.pool)).toBe(1)
})

it('holds a task that has expired, though its retry is not due yet', async () => {
  const task = aTask({ executeAt: new Date(Date.now() + hour) })
  await insertTasks(db.pool, [task])
  await db.pool.query(`UPDATE tasks SET state = 'retrying', attempts = 1, expires_at = now() - interval '1 s'`)
  expect(await holdOverdueTasks(db.pool)).toMatchObject({ tasks: 1 })
  expect(await expireTasks(db.pool, { limit: 10 })).toEqual([]) // its failure was reported after the backup
  expect(await releaseHeldTasks(db.pool)).toBe(1)
  expect(await expireTasks(db.pool, { limit: 10 })).toMatchObject([{ taskId: task.id }])
})

it('also holds tasks that are due before a given time, including occurrences of cron jobs', async () => {
  const [soon, later] = [1, 5].map(hours => aTask({ executeAt: new Date(Date.now() + hours * hour) }))
  if (!soon || !later) throw new Error('two tasks')
  await insertTasks(db.pool, [soon, later])
  await storeCronJobs(1, { minutesOverdue: 0, cron: '*/10 * * * *' })
  const until = new Date(Date.now() + 2 * hour)
  const { tasks } = await holdOverdueTasks(db.pool, until)
  expect(tasks).toBe(1 + (await count(`source = 'cron' AND state = 'pending'`)))
  expect(tasks).toBeGreaterThan(12)
  expect(await due(until)).toEqual({ tasks: 0, cronJobs: 0 })
  expect((await taskRow(db.pool, later.id)).due_at).toEqual(later.executeAt)
  await releaseHeldTasks(db.pool)
  expect((await taskRow(db.pool, soon.id)).due_at).toEqual(soon.executeAt)
})

it.each([
  ['5,001 occurrences of many cron jobs', 51, 100],
  ['1,001 occurrences of one cron job', 1, 1_002],
  ['501 cron jobs', 501, 0],
])('holds all of %s', async (_what, jobs, minutesOverdue) => {
  await storeCronJobs(jobs, { minutesOverdue })
  const before = new Date()
  const { tasks } = await holdOverdueTasks(db.pool)
  expect(tasks).toBeGreaterThanOrEqual(jobs * Math.min(minutesOverdue + 1, 100))
  expect(await due(before)).toEqual({ tasks: 0, cronJobs: 0 })
})

it('holds an unreadable cron job until it is released', async () => {
  await storeCronJobs(501, { minutesOverdue: 3, timezone: 'Mars/Base' })
  await storeCronJobs(1, { minutesOverdue: 3 })
  const { tasks, cronJobs } = await holdOverdueTasks(db.pool)
  expect(tasks).toBeGreaterThan(0)
  expect(cronJobs).toHaveLength(501)
  expect(await findStuckWork(db.pool)).toMatchObject({ heldCronJobs: 501 })
  await db.pool.query(`UPDATE cron_jobs SET timezone = 'UTC'`)
  expect(await expandCronJobs(db.pool, { lookAheadMs: 0, limit: 500 })).toMatchObject({ jobs: 0 })
  await releaseHeldTasks(db.pool)
  expect(await findStuckWork(db.pool)).toMatchObject({ heldCronJobs: 0 })
  expect((await expandCronJobs(db.pool, { lookAheadMs: 0, limit: 500 })).jobs).toBe(500)
})

it('prints what it holds, and holds nothing before every migration is applied', async () => {
  const { url, query } = await testDatabase()
  const lines: string[] = []
  const hold = () => holdOverdue(url, line => lines.push(line))
  await hold()
  expect(lines).toEqual(['0 tasks held'])
  const last = '(SELECT max(migration_name) FROM _prisma_migrations)'
  await query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = ${last}`)
  await expect(hold()).rejects.toThrow('1 migrations are not applied: run deploy first.')
  expect(lines).toHaveLength(1)
})

/** Stores cron jobs that catch up on all occurrences, the first of which was `minutes` ago. */
async function storeCronJobs(
  jobs: number,
  {
    minutesOverdue,
    cron = '* * * * *',
    timezone = 'UTC',
  }: { minutesOverdue: number; cron?: string; timezone?: string },
): Promise<void> {
  const text = `
    INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, next_run_at, url, method,
                           max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
    SELECT gen_random_uuid(), $1, 'A cron job', $4, $5, 'allow', 'all',
           date_trunc('minute', now()) - $3 * interval '1 minute', 'https://example.com/', 'POST', 0, 'fixed', 1, 1, 1
    FROM generate_series(1, $2::int)`
  await db.pool.query(text, [await aWorkspace(db.pool), jobs, minutesOverdue, cron, timezone])
}

/** Returns the tasks that a scheduler and a dispatcher would start by then. */
async function due(until: Date): Promise<{ tasks: number; cronJobs: number }> {
  const { rows } = await db.pool.query(`SELECT count(*)::int AS n FROM cron_jobs WHERE next_run_at <= $1`, [until])
  const iso = until.toISOString()
  return { tasks: await count(`state = 'pending' AND waits_for = 0 AND due_at <= '${iso}'`), cronJobs: rows[0].n }
}

async function count(condition: string): Promise<number> {
  return (await db.pool.query(`SELECT count(*)::int AS n FROM tasks WHERE ${condition}`)).rows[0].n
}
