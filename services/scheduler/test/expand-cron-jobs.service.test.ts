import { randomUUID } from 'node:crypto'
import { createCronJob } from '@belfry/db/cron-jobs/change-cron-job'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { expandCronJobs, type UnreadableCronJobs } from '../src/expand-cron-jobs.ts'
import { promoteDueTasks } from '../src/promote-due-tasks.ts'
import { openTestQueue, storeWorkspace } from './setup.ts'

const never = new AbortController().signal

let test: Awaited<ReturnType<typeof openTestQueue>>
beforeEach(async () => {
  test = await openTestQueue()
})
afterEach(() => test.ctx.close())

/** Stores cron jobs whose next occurrence, not a task yet, is the given seconds away, and whose second one is next year. */
async function storeCronJobs(count: number, inSeconds: number): Promise<void> {
  const { pool } = test.ctx
  const workspaceId = await storeWorkspace(test.ctx)
  const job = {
    ...{ workspaceId, name: 'A cron job', cron: '0 0 1 1 *', timezone: 'UTC', startsAt: null, endsAt: null },
    ...({ overlap: 'allow', catchUp: 'latest', backoff: 'fixed' } as const),
    ...{ url: 'https://example.com/', method: 'POST', headers: '{}', payload: null },
    ...{ maxRetries: 0, baseDelayMs: 1000, maxDelayMs: 1000, timeoutMs: 1000 },
  }
  // Not all at once: a busy machine would let some of them wait for a connection for too long.
  for (let left = count; left > 0; left -= 100) {
    const some = Array.from({ length: Math.min(left, 100) }, () => createCronJob(pool, { ...job, id: randomUUID() }, 0))
    await Promise.all(some)
  }
  const text = `UPDATE cron_jobs SET next_run_at = now() + $2 * interval '1 second' WHERE workspace_id = $1`
  await pool.query(text, [workspaceId, inSeconds])
}

async function waiting(): Promise<number> {
  const { rows } = await test.ctx.pool.query(`SELECT count(*)::int AS n FROM tasks WHERE source = 'cron'`)
  return rows[0].n
}

it('stores the occurrences of six minutes as tasks, in as many batches as needed', async () => {
  await storeCronJobs(1201, 350)
  await storeCronJobs(3, 370)
  expect(await expandCronJobs(test.ctx, never)).toBe(1201)
  expect(await waiting()).toBe(1201)
  expect(await expandCronJobs(test.ctx, never)).toBe(0)
})

it('adds jobs only for occurrences that the promotion has passed', async () => {
  await storeCronJobs(5, 350)
  await expandCronJobs(test.ctx, never)
  expect(test.scheduled).toHaveLength(0)
  await storeCronJobs(7, 60)
  await expandCronJobs(test.ctx, never)
  expect(test.scheduled).toHaveLength(7)
})

it('leaves jobs that it could not add to the promotion', async () => {
  await promoteDueTasks(test.ctx)
  await storeCronJobs(4, 60)
  const { queue } = test.ctx
  test.ctx.queue = { ...queue, schedule: () => Promise.reject(new Error('away')) }
  await expandCronJobs(test.ctx, never)
  test.ctx.queue = queue
  await promoteDueTasks(test.ctx)
  expect(test.scheduled).toHaveLength(4)
})

it('starts no further batch after a stop', async () => {
  await storeCronJobs(1001, 300)
  expect(await expandCronJobs(test.ctx, AbortSignal.abort())).toBe(500)
  expect(await waiting()).toBe(500)
})

it('expands the others while it cannot read 501, retries after 30 s, and does not block other processes', async () => {
  await storeCronJobs(501, 60)
  await test.ctx.pool.query(`UPDATE cron_jobs SET timezone = 'Mars/Base'`)
  await storeCronJobs(1, 60)
  const remembered: UnreadableCronJobs = new Map()
  expect(await expandCronJobs(test.ctx, never, remembered)).toBe(502)
  expect(await waiting()).toBe(1)
  expect(remembered.size).toBe(501)
  expect(Math.max(...remembered.values()) - performance.now()).toBeLessThanOrEqual(30_000)
  expect(await expandCronJobs(test.ctx, never, remembered)).toBe(0)

  await test.ctx.pool.query(`UPDATE cron_jobs SET timezone = 'UTC'`)
  expect(await expandCronJobs(test.ctx, never, remembered)).toBe(0)
  for (const id of [...remembered.keys()].slice(0, 2)) remembered.set(id, performance.now())
  expect(await expandCronJobs(test.ctx, never, remembered)).toBe(2)
  expect(await expandCronJobs(test.ctx, never, new Map())).toBe(499) // another process
  expect(await waiting()).toBe(502)
})

it('continues within the round while more than 5,000 occurrences are to be made', async () => {
  await storeCronJobs(60, 0)
  const hours = `date_trunc('hour', now()) - interval '100 hours'`
  await test.ctx.pool.query(
    `UPDATE cron_jobs SET cron = '0 * * * *', catch_up = 'all', next_run_at = ${hours}, ends_at = now()`,
  )
  expect(await expandCronJobs(test.ctx, never)).toBe(60)
  expect(await waiting()).toBe(60 * 101)
})
