import { randomUUID } from 'node:crypto'
import { claimTasks } from '@belfry/db/test/claim-tasks'
import { foldUsageChanges } from '@belfry/db/usage/fold-usage-changes'
import { defaultTiers } from '@belfry/domain/tiers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Context } from '../src/context.ts'
import { expireLog } from '../src/expire-log.ts'
import { recordQuotaCrossings, returnUnspentBlocks } from '../src/upkeep.ts'
import { openTestContext, storeTasks } from './setup.ts'

const never = new AbortController().signal

let ctx: Context
beforeEach(async () => {
  ctx = await openTestContext()
})
afterEach(() => ctx.close())

const count = async (table: string) => (await ctx.pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n

it('folds, counts and records crossings in three schedulers at once, each thing once', async () => {
  const { pool } = ctx
  const organization = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', 'a', 'free')`
  const [organizationId, workspaceId] = [randomUUID(), randomUUID()]
  await pool.query(organization, [organizationId])
  const workspace = `INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'A')`
  await pool.query(workspace, [workspaceId, organizationId])
  const ids = await storeTasks(ctx, Array(10).fill(0))
  await pool.query('UPDATE tasks SET workspace_id = $1', [workspaceId])
  ctx.tiers = { ...defaultTiers, free: { ...defaultTiers.free, executions: 10 } }
  await claimTasks(
    pool,
    { dispatcherId: randomUUID() },
    ids.map(taskId => ({ taskId, token: randomUUID() })),
    ctx.tiers,
  )
  const threeTimes = <T>(chore: () => Promise<T>) => Promise.all([chore(), chore(), chore()])
  await threeTimes(() => foldUsageChanges(ctx.pool, 10_000))
  expect(await count('usage_changes')).toBe(0)
  await threeTimes(() => recordQuotaCrossings(ctx))
  expect(await count('quota_crossings')).toBe(2)
  const days = await pool.query('SELECT sum(executions)::int AS n FROM usage_days')
  expect(days.rows[0].n).toBe(10)
})

it('returns the unspent executions of 501 organizations in three schedulers at once, each block once', async () => {
  const { pool } = ctx
  await pool.query(`
    WITH o AS (
      INSERT INTO organizations (id, name, slug, tier) SELECT gen_random_uuid(), 'A', i, 'free'
      FROM generate_series(1, 501) i RETURNING id
    ), u AS (
      INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
      SELECT utc_month(now()), id, 500, 0, 0, 10000 FROM o
    )
    INSERT INTO execution_blocks (month, organization_id, dispatcher_id, unspent)
    SELECT utc_month(now()), id, gen_random_uuid(), 100 FROM o, generate_series(1, 2)`)
  const returned = await Promise.all([1, 2, 3].map(() => returnUnspentBlocks(ctx, never)))
  expect(returned.reduce((sum, n) => sum + n, 0)).toBe(1_002)
  const { rows } = await pool.query('SELECT DISTINCT executions::int AS n FROM usage')
  expect(rows).toEqual([{ n: 300 }])
  expect(await count('execution_blocks')).toBe(0)
})

it('deletes an old log in batches, and stops between two of them on request', async () => {
  const { pool } = ctx
  await storeTasks(ctx, Array(30).fill(0))
  const more = `
    INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
    SELECT uuid_v7(now() - interval '400 days'), $1, 'task', 'cancelled', now(), now(), now() - interval '399 days'
    FROM generate_series(1, 2500)`
  await pool.query(more, [randomUUID()])
  expect(await expireLog(ctx, AbortSignal.abort())).toBeLessThanOrEqual(1000)
  expect(await count('tasks')).toBeGreaterThanOrEqual(1530)
  await expireLog(ctx, never)
  expect(await count('tasks')).toBe(30)
})
