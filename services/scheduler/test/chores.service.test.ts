import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { forgetIdempotencyKeys } from '@belfry/db/answer-once'
import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { openPool } from '@belfry/db/postgres/pool'
import { readMonths } from '@belfry/db/retention/run-partitions'
import { scheduleOrStepBack } from '@belfry/db/tasks/due-work'
import { claimTasks } from '@belfry/db/test/claim-tasks'
import { fromId, toId } from '@belfry/domain/id'
import { createTestDatabase } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { drain } from '../src/drain.ts'
import { createLiveness } from '../src/liveness.ts'
import { promoteDueTasks } from '../src/promote-due-tasks.ts'
import { openRepair } from '../src/repair-overdue-tasks.ts'
import { rescueLostAttempts } from '../src/rescue-lost-attempts.ts'
import { prepareRunPartitions } from '../src/upkeep.ts'
import { openTestQueue, storeManyTasks, storeTasks, storeWorkspace } from './setup.ts'

const never = new AbortController().signal
const minute = 60_000

describe('the chores', () => {
  let test: Awaited<ReturnType<typeof openTestQueue>>
  beforeEach(async () => {
    test = await openTestQueue()
  })
  afterEach(() => test.ctx.close())

  const ids = (uuids: Array<string | undefined>) => uuids.map(uuid => toId('task', uuid ?? '')).sort()

  it('promotes tasks due within five minutes, and leaves the others in PostgreSQL', async () => {
    const stored = await storeTasks(test.ctx, [minute, 4 * minute, 6 * minute])
    await promoteDueTasks(test.ctx)
    expect(test.scheduled.sort()).toEqual(ids(stored.slice(0, 2)))
  })

  it('promotes each window once', async () => {
    await storeTasks(test.ctx, [minute])
    await promoteDueTasks(test.ctx)
    test.scheduled.length = 0
    for (let i = 0; i < 3; i++) await promoteDueTasks(test.ctx)
    expect(test.scheduled).toEqual([])
  })

  it('promotes the window again after a job could not be added', async () => {
    await promoteDueTasks(test.ctx)
    const stored = await storeTasks(test.ctx, [minute])
    await scheduleOrStepBack(
      test.ctx.pool,
      () => Promise.reject(new Error('away')),
      () => {},
    )
    await promoteDueTasks(test.ctx)
    expect(test.scheduled).toEqual(ids(stored))
  })

  it('does not advance when the queue refuses', async () => {
    const stored = await storeTasks(test.ctx, [minute])
    const broken = { ...test.ctx, queue: { ...test.ctx.queue, schedule: () => Promise.reject(new Error('away')) } }
    await expect(promoteDueTasks(broken)).rejects.toThrow('away')
    await promoteDueTasks(test.ctx)
    expect(test.scheduled).toEqual(ids(stored))
  })

  it('promotes everything due soon again when the store has lost its data or got old data back', async () => {
    const stored = await storeTasks(test.ctx, [-1000, minute])
    await promoteDueTasks(test.ctx)
    for (const marker of ['from a backup', randomUUID()]) {
      test.scheduled.length = 0
      await test.ctx.queue.writeMarker(marker)
      await promoteDueTasks(test.ctx)
      expect(test.scheduled.sort()).toEqual(ids(stored))
    }
  })

  it('makes the same jobs again when promoting everything again fails halfway', async () => {
    // More than one page, and pages end in the middle of a second.
    await storeManyTasks(test.ctx, 4_000, 3_000)
    await promoteDueTasks(test.ctx)
    const depth = async () => (await test.ctx.queue.depth()).delayed
    const jobs = await depth()
    await test.ctx.queue.writeMarker('from a backup')
    let calls = 0
    const flapping = {
      ...test.ctx,
      queue: {
        ...test.ctx.queue,
        schedule: (...args: Parameters<typeof test.ctx.queue.schedule>) =>
          ++calls % 2 === 0 ? Promise.reject(new Error('away')) : test.ctx.queue.schedule(...args),
      },
    }
    for (let i = 0; i < 3; i++) {
      await expect(promoteDueTasks(flapping)).rejects.toThrow('away')
      // Claims of one second's tasks move the ends of the pages.
      await test.ctx.pool.query(`
        UPDATE tasks SET state = 'cancelled' WHERE date_trunc('second', due_at) = (
          SELECT date_trunc('second', min(due_at)) FROM tasks WHERE state = 'pending'
        )`)
    }
    const { rows } = await test.ctx.pool.query('SELECT watermark < now() AS "isPinned" FROM promotion')
    expect(rows).toEqual([{ isPinned: true }])
    await promoteDueTasks(test.ctx)
    expect(await depth()).toBe(jobs)
  })

  it('shares the work among any number of schedulers without an error', async () => {
    await storeTasks(test.ctx, Array(50).fill(minute))
    await Promise.all([1, 2, 3, 4, 5].map(() => promoteDueTasks(test.ctx)))
    expect(new Set(test.scheduled).size).toBe(50)
  })

  it('repairs unclaimed tasks that have been due for some seconds, over many pages', async () => {
    const overdue = await storeTasks(test.ctx, Array(30).fill(-10_000))
    await storeTasks(test.ctx, [-1000, minute])
    expect(await openRepair(test.ctx)()).toBe(30)
    expect(test.scheduled.sort()).toEqual(ids(overdue))
  })

  it.each([3_600_000, -3_600_000])(
    'repairs at once also where the clock of its machine is wrong by %i ms',
    async skew => {
      await storeTasks(test.ctx, [-10_000])
      const repair = openRepair(test.ctx)
      const now = Date.now
      vi.spyOn(Date, 'now').mockImplementation(() => now() + skew)
      onTestFinished(() => void vi.restoreAllMocks())
      await repair()
      expect(await test.ctx.queue.depth()).toEqual({ ready: 1, delayed: 0 })
    },
  )

  it('continues with the workspaces that one round of repairs did not reach', async () => {
    const workspaces = 150
    await storeManyTasks(test.ctx, workspaces * 100, -10_000, workspaces)
    const repair = openRepair(test.ctx)
    expect(await repair()).toBe(10_000)
    expect(await repair()).toBe(5_000)
    expect(new Set(test.scheduled).size).toBe(15_000)
  })

  it('repairs a hundred tasks of a workspace at a time, until all are repaired', async () => {
    await storeManyTasks(test.ctx, 250, -10_000)
    const repair = openRepair(test.ctx)
    const seen: number[] = []
    for (let i = 0; i < 4; i++) {
      test.scheduled.length = 0
      seen.push(await repair())
      const ids = test.scheduled.map(id => fromId('task', id))
      await test.ctx.pool.query(`UPDATE tasks SET state = 'success', finished_at = now() WHERE id = ANY ($1)`, [ids])
    }
    expect(seen).toEqual([100, 100, 50, 0])
  })

  it('ends dispatchers without a heartbeat: unsent attempts are pending again, sent ones are lost', async () => {
    const { pool } = test.ctx
    let now = 0
    const ctx = { ...test.ctx, liveness: createLiveness(() => now) }
    const [alive, dead] = [await enterDispatchers(pool), await enterDispatchers(pool)]
    const [sent = '', unsent = '', kept = ''] = await storeTasks(ctx, [0, 0, 0])
    await sleep(2) // their times were rounded
    const claim = (dispatcherId: string, taskId: string, isPrefetch = false) =>
      claimTasks(pool, { dispatcherId }, [{ taskId, token: randomUUID(), isPrefetch }])
    await claim(dead.id, sent)
    await claim(dead.id, unsent, true)
    await claim(alive.id, kept)
    let lost = 0
    for (; now <= 13_000; now += 1_000) {
      await alive.beat(() => [])
      lost += await rescueLostAttempts(ctx)
    }
    expect(lost).toBe(1)
    const { rows } = await pool.query('SELECT state FROM tasks WHERE id = ANY ($1) ORDER BY array_position($1, id)', [
      [sent, unsent, kept],
    ])
    expect(rows.map(({ state }) => state)).toEqual(['retrying', 'pending', 'processing'])
  })

  it('ends the other dispatchers when one cannot be ended, and reports that', async () => {
    const { pool } = test.ctx
    let now = 0
    const ctx = { ...test.ctx, liveness: createLiveness(() => now) }
    const dispatchers = [await enterDispatchers(pool), await enterDispatchers(pool), await enterDispatchers(pool)]
    const stored = await storeTasks(ctx, [0, 0, 0])
    await sleep(2) // their times were rounded
    const runIds: string[] = []
    for (const [i, { id: dispatcherId }] of dispatchers.entries()) {
      const request = { taskId: stored[i] ?? '', token: randomUUID() }
      const [claim] = await claimTasks(pool, { dispatcherId }, [request])
      if (claim?.kind === 'claimed') runIds.push(claim.task.runId)
    }
    // A run with this id is there already.
    const text = `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
      SELECT run_id, workspace_id, id, 1, source, 'failed', now(), now(), now() FROM tasks WHERE run_id = $1`
    await pool.query(text, [runIds[1]])
    const failures: unknown[] = []
    for (; now <= 13_000; now += 1_000) await rescueLostAttempts(ctx).catch(error => failures.push(error))
    expect(failures).toContainEqual(expect.objectContaining({ message: expect.stringContaining('unique constraint') }))
    const { rows } = await pool.query('SELECT state FROM tasks WHERE id = ANY ($1) ORDER BY array_position($1, id)', [
      stored,
    ])
    expect(rows.map(({ state }) => state)).toEqual(['retrying', 'processing', 'retrying'])
  })

  it('forgets idempotency keys that are a day old, in as many batches as it takes', async () => {
    const { pool } = test.ctx
    const workspaceId = await storeWorkspace(test.ctx)
    const insert = `INSERT INTO idempotency_keys (workspace_id, key, request_hash, status, answer, created_at)
      SELECT $1, i, '', 201, '{}', now() - i * interval '1 minute' FROM generate_series(1, 4000) i`
    await pool.query(insert, [workspaceId])
    expect(await drain(never, 1_000, limit => forgetIdempotencyKeys(pool, limit))).toBe(4000 - (24 * 60 - 1))
    const { rows } = await pool.query('SELECT max(key::int) AS oldest FROM idempotency_keys')
    expect(rows).toEqual([{ oldest: 24 * 60 - 1 }])
  })

  it('prepares the partitions of the coming months, any number of times', async () => {
    const database = await createTestDatabase()
    const pool = openPool(database.url, { max: 3, onError: error => console.error(error) })
    onTestFinished(async () => {
      await pool.end()
      await database.drop()
    })
    const last = `run_partitions.${(await readMonths(pool, 3)).at(-1)?.name}`
    await pool.query(`DROP TABLE ${last}`)
    // A call leaves a month for a later one when a statement takes 100 ms.
    const isThere = async () => {
      await Promise.all([1, 2, 3].map(() => prepareRunPartitions({ ...test.ctx, pool })))
      return (await pool.query('SELECT to_regclass($1) IS NOT NULL AS "isThere"', [last])).rows
    }
    await expect.poll(isThere).toEqual([{ isThere: true }])
    expect(await isThere()).toEqual([{ isThere: true }])
  })
})
