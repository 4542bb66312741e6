import { randomUUID } from 'node:crypto'
import { claimTasks } from '@belfry/db'
import { defaultTiers } from '@belfry/domain'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { correctStorage } from '../src/correct-storage.ts'
import { expireLog } from '../src/expire-log.ts'
import { foldUsage } from '../src/fold-usage.ts'
import { recordQuotaCrossings } from '../src/record-quota-crossings.ts'
import { openTestContext, storeTasks } from './setup.ts'

const never = new AbortController().signal

let test: Awaited<ReturnType<typeof openTestContext>>
beforeEach(async () => {
  test = await openTestContext('postgres')
})
afterEach(() => test.ctx.close())

const count = async (table: string) => (await test.ctx.pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n

it('folds, counts, notes and corrects in three schedulers at once, each thing once', async () => {
  const { pool } = test.ctx
  const organization = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', 'a', 'free')`
  const [organizationId, workspaceId] = [randomUUID(), randomUUID()]
  await pool.query(organization, [organizationId])
  const workspace = `INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'A')`
  await pool.query(workspace, [workspaceId, organizationId])
  const ids = await storeTasks(test.ctx, Array(10).fill(0))
  await pool.query('UPDATE tasks SET workspace_id = $1', [workspaceId])
  test.ctx.tiers = { ...defaultTiers, free: { ...defaultTiers.free, executions: 10 } }
  await claimTasks(
    pool,
    ids.map(taskId => ({ taskId, token: randomUUID() })),
    test.ctx.tiers,
  )
  const threeTimes = <T>(chore: () => Promise<T>) => Promise.all([chore(), chore(), chore()])
  await threeTimes(() => foldUsage(test.ctx, never))
  expect(await count('usage_changes')).toBe(0)
  await threeTimes(() => recordQuotaCrossings(test.ctx))
  expect(await count('quota_crossings')).toBe(2)
  const days = await pool.query('SELECT sum(executions)::int AS n FROM usage_days')
  expect(days.rows[0].n).toBe(10)
  await pool.query(`INSERT INTO storage (organization_id, bytes, corrected_at) VALUES ($1, 7, 'epoch')`, [
    organizationId,
  ])
  expect((await threeTimes(() => correctStorage(test.ctx, never))).sort()).toEqual([0, 0, 1])
  expect((await pool.query('SELECT bytes FROM storage')).rows).toEqual([{ bytes: '0' }])
})

it('deletes an old log in batches, and stops between two of them when it is told to', async () => {
  const { pool } = test.ctx
  await storeTasks(test.ctx, Array(30).fill(0))
  const more = `
    INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
    SELECT uuid_v7(now() - interval '400 days'), $1, 'task', 'cancelled', now(), now(), now() - interval '399 days'
    FROM generate_series(1, 2500)`
  await pool.query(more, [randomUUID()])
  expect(await expireLog(test.ctx, AbortSignal.abort())).toBeLessThanOrEqual(1000)
  expect(await count('tasks')).toBeGreaterThanOrEqual(1530)
  await expireLog(test.ctx, never)
  expect(await count('tasks')).toBe(30)
})
