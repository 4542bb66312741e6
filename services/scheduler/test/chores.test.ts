import { randomUUID } from 'node:crypto'
import { claimTasks, stepPromotionBack } from '@belfry/db'
import { toId } from '@belfry/domain'
import { queueBackends } from '@belfry/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { forgetOldRequests } from '../src/forget-old-requests.ts'
import { prepareRunPartitions } from '../src/prepare-run-partitions.ts'
import { promoteDueTasks } from '../src/promote-due-tasks.ts'
import { repairOverdueTasks } from '../src/repair-overdue-tasks.ts'
import { rescueLostAttempts } from '../src/rescue-lost-attempts.ts'
import { openTestContext, storeTasks, storeWorkspace } from './setup.ts'

const never = new AbortController().signal
const minute = 60_000

describe.each(queueBackends())('with the queue on %s', backend => {
  let test: Awaited<ReturnType<typeof openTestContext>>
  beforeEach(async () => {
    test = await openTestContext(backend)
  })
  afterEach(() => test.ctx.close())

  const ids = (uuids: Array<string | undefined>) => uuids.map(uuid => toId('task', uuid ?? '')).sort()

  it('promotes what is due within five minutes, and leaves the rest in PostgreSQL', async () => {
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
    await stepPromotionBack(test.ctx.pool)
    await promoteDueTasks(test.ctx)
    expect(test.scheduled).toEqual(ids(stored))
  })

  it('does not move on when the queue refuses', async () => {
    const stored = await storeTasks(test.ctx, [minute])
    const broken = { ...test.ctx, queue: { ...test.ctx.queue, schedule: () => Promise.reject(new Error('away')) } }
    await expect(promoteDueTasks(broken)).rejects.toThrow('away')
    await promoteDueTasks(test.ctx)
    expect(test.scheduled).toEqual(ids(stored))
  })

  it('promotes everything due soon again when the store has lost its data or got old data back', async () => {
    if (!test.ctx.queue.isVolatile) return expect(backend).toBe('postgres')
    const stored = await storeTasks(test.ctx, [-1000, minute])
    await promoteDueTasks(test.ctx)
    for (const marker of ['from a backup', randomUUID()]) {
      test.scheduled.length = 0
      await test.ctx.queue.writeMarker(marker)
      await promoteDueTasks(test.ctx)
      expect(test.scheduled.sort()).toEqual(ids(stored))
    }
  })

  it('shares the work among any number of schedulers without an error', async () => {
    await storeTasks(test.ctx, Array(50).fill(minute))
    await Promise.all([1, 2, 3, 4, 5].map(() => promoteDueTasks(test.ctx)))
    expect(new Set(test.scheduled).size).toBe(50)
  })

  it('repairs what is due for some seconds and unclaimed, over many pages', async () => {
    const overdue = await storeTasks(test.ctx, Array(30).fill(-10_000))
    await storeTasks(test.ctx, [-1000, minute])
    expect(await repairOverdueTasks(test.ctx)).toBe(30)
    expect(test.scheduled.sort()).toEqual(ids(overdue))
  })

  it('rescues the tasks of dispatchers that are gone', async () => {
    const [lost, alive] = await storeTasks(test.ctx, [0, 0])
    await claimTasks(
      test.ctx.pool,
      [lost, alive].map(id => ({ taskId: id ?? '', token: randomUUID() })),
    )
    await test.ctx.pool.query('UPDATE tasks SET lease_until = now() WHERE id = $1', [lost])
    expect(await rescueLostAttempts(test.ctx, never)).toBe(1)
    expect(test.scheduled).toEqual(ids([lost]))
  })

  it('forgets idempotency keys that are a day old, in as many batches as it takes', async () => {
    const { pool } = test.ctx
    const workspaceId = await storeWorkspace(test.ctx)
    const insert = `INSERT INTO idempotency_keys (workspace_id, key, request_hash, status, answer, created_at)
      SELECT $1, i, '', 201, '{}', now() - i * interval '1 minute' FROM generate_series(1, 4000) i`
    await pool.query(insert, [workspaceId])
    expect(await forgetOldRequests(test.ctx, never)).toBe(4000 - (24 * 60 - 1))
    const { rows } = await pool.query('SELECT max(key::int) AS oldest FROM idempotency_keys')
    expect(rows).toEqual([{ oldest: 24 * 60 - 1 }])
  })

  it('prepares the partitions of the coming months, any number of times', async () => {
    await Promise.all([1, 2, 3].map(() => prepareRunPartitions(test.ctx)))
    const { rows } = await test.ctx.pool.query(`SELECT FROM pg_tables WHERE schemaname = 'run_partitions'`)
    expect(rows).toHaveLength(5)
  })
})
