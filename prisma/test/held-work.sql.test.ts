import { randomUUID } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { startBulkOperation } from '../src/bulk-operations/bulk-operations.ts'
import { stepBulkOperation } from '../src/bulk-operations/step-bulk-operation.ts'
import { changeCronJob, createCronJob, type NewCronJob } from '../src/cron-jobs/change-cron-job.ts'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import { holdOverdueTasks, releaseHeldTasks } from '../src/migrate/held-tasks.ts'
import { advanceQueues } from '../src/queues/advance-queues.ts'
import { nameQueue, pauseQueue, type QueueLimits } from '../src/queues/queues.ts'
import { changePendingTask, endTask } from '../src/tasks/change-task.ts'
import { endTasks } from '../src/tasks/end-tasks.ts'
import { expireTasks } from '../src/tasks/expire-tasks.ts'
import { insertTasks, type NewTask } from '../src/tasks/insert-tasks.ts'
import { openLateSearch } from '../src/tasks/late-work.ts'
import { raiseWaitingFloor } from '../src/tasks/waiting-floor.ts'
import { readDueTimes } from '../src/virtual-clock/read-due-times.ts'
import { claimTasks } from './claim-tasks.ts'
import { aTask, aWorkspace, claimAll, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()
const minute = 60_000
afterEach(() => db.pool.query('TRUNCATE cron_jobs, tasks, task_requests CASCADE'))

const kinds = async (...ids: string[]) => (await claimAll(db.pool, ids)).map(({ kind }) => kind)
const lateWorkspaces = async () => [...(await openLateSearch(db.pool)(3_000)).keys()]

/** Stores a task that has been due for ten minutes. */
async function overdue(changes: Partial<NewTask> = {}): Promise<NewTask> {
  const task = aTask(changes)
  await insertTasks(db.pool, [task])
  const text = `UPDATE tasks SET execute_at = now() - interval '10 minutes', due_at = now() - interval '10 minutes' WHERE id = $1`
  await db.pool.query(text, [task.id])
  return task
}

async function aQueue(limits: Partial<QueueLimits>): Promise<{ id: string; workspaceId: string; queue: string }> {
  const workspaceId = await aWorkspace(db.pool)
  return { id: (await nameQueue(db.pool, workspaceId, 'q', limits)) ?? '', workspaceId, queue: 'q' }
}

/** Stores a cron job of every minute, whose occurrences of the next minutes are tasks. The first is due. */
async function aCronJob(changes: Partial<NewCronJob> = {}) {
  const job: NewCronJob = {
    ...{
      id: randomUUID(),
      workspaceId: await aWorkspace(db.pool),
      name: 'A cron job',
      cron: '* * * * *',
      timezone: 'UTC',
    },
    ...{ startsAt: null, endsAt: null, overlap: 'allow', catchUp: 'all', url: 'https://example.com', method: 'POST' },
    ...{
      headers: '{}',
      payload: null,
      maxRetries: 0,
      backoff: 'fixed',
      baseDelayMs: 1,
      maxDelayMs: 1,
      timeoutMs: 1_000,
    },
    ...changes,
  }
  await createCronJob(db.pool, job, 6 * minute)
  const text = `
    UPDATE tasks SET due_at = now() - interval '1 second' WHERE id = (
      SELECT id FROM tasks WHERE cron_job_id = $1 ORDER BY execute_at LIMIT 1
    ) RETURNING id`
  const [due] = (await db.pool.query<{ id: string }>(text, [job.id])).rows
  return { job, occurrence: due?.id ?? '' }
}

it('finds a blocked task that moves to another queue behind the floor', async () => {
  const { workspaceId, queue } = await aQueue({})
  await pauseQueue(db.pool, workspaceId, queue, true)
  const task = await overdue({ workspaceId, queue })
  expect(await kinds(task.id)).toEqual(['blocked'])
  await raiseWaitingFloor(db.pool)
  expect(await lateWorkspaces()).not.toContain(workspaceId)
  await changePendingTask(db.pool, workspaceId, task.id, { queue: 'free' })
  expect(await lateWorkspaces()).toContain(workspaceId)
})

it('finds a blocked occurrence whose cron job moves to another queue', async () => {
  const { job, occurrence } = await aCronJob({ queue: 'q' })
  await nameQueue(db.pool, job.workspaceId, 'q')
  await pauseQueue(db.pool, job.workspaceId, 'q', true)
  await db.pool.query(`UPDATE tasks SET due_at = now() - interval '10 minutes', execute_at = due_at WHERE id = $1`, [
    occurrence,
  ])
  expect(await kinds(occurrence)).toEqual(['blocked'])
  await raiseWaitingFloor(db.pool)
  expect(await lateWorkspaces()).not.toContain(job.workspaceId)
  await changeCronJob(db.pool, job.workspaceId, job.id, { queue: 'free' }, 6 * minute)
  expect(await lateWorkspaces()).toContain(job.workspaceId)
})

it('keeps a held task from its deadline, and gives it back the time that it had left', async () => {
  const task = await overdue({
    maxAgeMs: 15 * minute,
    callbacks: '{"on_failure":{"url":"https://example.com/failed"}}',
  })
  await holdOverdueTasks(db.pool)
  await db.pool.query(`UPDATE tasks SET expires_at = now() - interval '1 second' WHERE id = $1`, [task.id])
  expect(await expireTasks(db.pool, { limit: 100 })).toEqual([])
  expect(await kinds(task.id)).toEqual(['gone'])
  expect(await taskRow(db.pool, task.id)).toMatchObject({ state: 'pending', waits_for: 2 })
  await releaseHeldTasks(db.pool)
  expect(await expireTasks(db.pool, { limit: 100 })).toEqual([])
  const { expires_at: expiresAt } = await taskRow(db.pool, task.id)
  expect(Math.abs(expiresAt.getTime() - Date.now() - 10 * minute)).toBeLessThan(minute)
  expect(await kinds(task.id)).toEqual(['claimed'])
})

it.each([
  ['queue', () => ({ queue: 'other' })],
  ['time', () => ({ executeAt: new Date(Date.now() + 100) })],
])('keeps a task held when its %s changes', async (_what, change) => {
  const task = await overdue()
  await holdOverdueTasks(db.pool)
  expect(await changePendingTask(db.pool, task.workspaceId, task.id, change())).toMatchObject({ kind: 'moved' })
  await db.pool.query('SELECT pg_sleep(0.15)')
  expect(await taskRow(db.pool, task.id)).toMatchObject({ state: 'pending', waits_for: 2 })
  expect(await kinds(task.id)).toEqual(['gone'])
  expect(await releaseHeldTasks(db.pool)).toBe(1)
  expect(await kinds(task.id)).toEqual(['claimed'])
})

it('keeps an occurrence held when its cron job moves to another queue', async () => {
  const { job, occurrence } = await aCronJob()
  await holdOverdueTasks(db.pool)
  await changeCronJob(db.pool, job.workspaceId, job.id, { queue: 'other' }, 6 * minute)
  expect(await taskRow(db.pool, occurrence)).toMatchObject({ state: 'pending', waits_for: 2, queue: 'other' })
  expect(await kinds(occurrence)).toEqual(['gone'])
})

it('makes no occurrence of the past when the rule of a cron job with held occurrences changes', async () => {
  const { job, occurrence } = await aCronJob()
  const hour = `date_trunc('hour', now()) - interval '3 hours'`
  await db.pool.query(
    `UPDATE tasks SET execute_at = ${hour}, due_at = ${hour}, occurrence_at = ${hour} WHERE id = $1`,
    [occurrence],
  )
  await holdOverdueTasks(db.pool)
  await changeCronJob(db.pool, job.workspaceId, job.id, { cron: '0,10,20,30,40,50 * * * *' }, 6 * minute)
  expect(await taskRow(db.pool, occurrence)).toMatchObject({ state: 'cancelled', state_reason: 'cronjob_changed' })
  const text = `SELECT FROM tasks WHERE cron_job_id = $1 AND state = 'pending' AND due_at < now() - interval '10 minutes'`
  expect((await db.pool.query(text, [job.id])).rowCount).toBe(0)
})

it('starts new occurrences of a cron job without overlap beside held ones', async () => {
  const { job, occurrence } = await aCronJob({ overlap: 'skip' })
  await holdOverdueTasks(db.pool)
  const text = `
    UPDATE tasks SET due_at = now() - interval '1 ms' WHERE id = (
      SELECT id FROM tasks WHERE cron_job_id = $1 AND waits_for = 0 ORDER BY execute_at LIMIT 1
    ) RETURNING id`
  const [next] = (await db.pool.query<{ id: string }>(text, [job.id])).rows
  expect(await kinds(next?.id ?? '', occurrence)).toEqual(['claimed', 'gone'])
})

it('counts no permit for a held attempt', async () => {
  const { id, ...inQueue } = await aQueue({ maxConcurrent: 1 })
  const inFlight = await overdue(inQueue)
  expect(await kinds(inFlight.id)).toEqual(['claimed'])
  await holdOverdueTasks(db.pool)
  const [first, second] = [aTask(inQueue), aTask(inQueue)]
  await insertTasks(db.pool, [first, second])
  await db.pool.query('SELECT pg_sleep(0.002)')
  expect((await kinds(first.id, second.id)).sort()).toEqual(['blocked', 'claimed'])
  expect(await advanceQueues(db.pool, [id])).toBe(0)
})

it('lets no cancel wait for a held attempt that was prefetched', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const { id: taskId } = await overdue({ workspaceId })
  const { id: dispatcherId } = await enterDispatchers(db.pool)
  await claimTasks(db.pool, { dispatcherId }, [{ taskId, token: randomUUID(), isPrefetch: true }])
  expect(await endTask(db.pool, workspaceId, taskId, 'cancel')).toMatchObject({ isUnsent: true })
  await holdOverdueTasks(db.pool)
  expect(await endTask(db.pool, workspaceId, taskId, 'cancel')).toMatchObject({ kind: 'refused', isUnsent: false })
  expect(await endTasks(db.pool, workspaceId, [taskId], 'cancel')).toEqual({ ended: 0, undecided: [] })
  await startBulkOperation(db.pool, workspaceId, { action: 'cancel', filter: {}, perSecond: null })
  expect(await stepBulkOperation(db.pool, 10)).toMatchObject({ ended: [], isWaiting: false })
})

it.each(['waits', 'is in flight'])('keeps the order of a queue whose held task %s', async held => {
  const { id, ...inQueue } = await aQueue({ ordered: true })
  const first = await overdue(inQueue)
  if (held === 'is in flight') expect(await kinds(first.id)).toEqual(['claimed'])
  await holdOverdueTasks(db.pool)
  const second = aTask(inQueue)
  await insertTasks(db.pool, [second])
  await db.pool.query('SELECT pg_sleep(0.002)')
  expect(await kinds(second.id)).toEqual(['blocked'])
  expect(await advanceQueues(db.pool, [id])).toBe(0)
  expect(await releaseHeldTasks(db.pool)).toBe(1)
  if (held === 'waits') expect(await kinds(first.id)).toEqual(['claimed'])
  await db.pool.query(`UPDATE tasks SET state = 'success', lease_until = NULL, finished_at = now() WHERE id = $1`, [
    first.id,
  ])
  expect(await advanceQueues(db.pool, [id])).toBe(1)
  expect(await kinds(second.id)).toEqual(['claimed'])
})

it('leaves held tasks out of the next times of the virtual clock, and names blocked ones', async () => {
  const { workspaceId, queue } = await aQueue({})
  await overdue({ maxAgeMs: 15 * minute })
  await holdOverdueTasks(db.pool)
  const nothing = { tasks: [], deadline: Number.POSITIVE_INFINITY, hasBlocked: false }
  expect(await readDueTimes(db.pool)).toMatchObject(nothing)
  await pauseQueue(db.pool, workspaceId, queue, true)
  const blocked = await overdue({ workspaceId, queue })
  expect(await kinds(blocked.id)).toEqual(['blocked'])
  expect(await readDueTimes(db.pool)).toMatchObject({ ...nothing, hasBlocked: true })
})
