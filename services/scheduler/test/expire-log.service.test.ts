import type { Pool } from '@belfry/db/postgres/pool'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Context } from '../src/context.ts'
import { expireAuditLogs, expireLog } from '../src/expire-log.ts'
import { openTestContext } from './setup.ts'

const never = new AbortController().signal

let ctx: Context
beforeEach(async () => {
  ctx = await openTestContext()
})
afterEach(() => ctx.close())

it('serves 502 workspaces round-robin, so a big one delays no other', async () => {
  const big = '00000000-0000-7000-8000-000000000000' // the first of all
  await storeOldLog(`SELECT '${big}'::uuid AS workspace_id FROM generate_series(1, 3500)`)
  await storeOldLog('SELECT gen_random_uuid() AS workspace_id FROM generate_series(1, 501)')
  const served: string[] = []
  expect(await expireLog({ ...ctx, pool: watched(ctx.pool, served) }, never)).toBe(4001)
  expect(await rows('tasks')).toBe(0)
  expect(await rows('runs')).toBe(0)
  const thirdOfBig = served.flatMap((id, i) => (id === big ? [i] : []))[2] ?? 0
  expect(new Set(served.slice(0, thirdOfBig))).toHaveLength(502)
})

it('deletes more cancelled tasks than one batch', async () => {
  await ctx.pool.query(
    `INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
     SELECT uuid_v7(now() - interval '40 days'), '00000000-0000-7000-8000-000000000000', 'task', 'cancelled', now(), now(),
            now() - interval '30 days' FROM generate_series(1, 2001)`,
  )
  expect(await expireLog(ctx, never)).toBe(2001)
  expect(await rows('tasks')).toBe(0)
})

it('leaves out a workspace whose log cannot be expired, and fails after the others', async () => {
  const [first, second] = ['00000000-0000-7000-8000-000000000000', '00000000-0000-7000-8000-000000000001']
  for (const id of [first, second])
    await storeOldLog(`SELECT '${id}'::uuid AS workspace_id FROM generate_series(1, 1500)`)
  const queries: string[] = []
  const refusing = { ...ctx, pool: refusingFor(first, 'delete_old_runs', queries) }
  await expect(expireLog(refusing, never)).rejects.toThrow('refused')
  const { rows: left } = await ctx.pool.query('SELECT DISTINCT workspace_id AS id FROM runs')
  expect(left).toEqual([{ id: first }])
  expect(queries.some(text => text.includes('_detached'))).toBe(true) // looked for partitions to drop
})

it('leaves out an organization whose audit log cannot be expired, and fails after the others', async () => {
  const [first, second] = ['00000000-0000-7000-8000-000000000000', '00000000-0000-7000-8000-000000000001']
  for (const id of [first, second])
    await ctx.pool.query(
      `INSERT INTO audit_log (id, organization_id, action, address, object_id)
       SELECT uuid_v7(now() - interval '900 days'), $1, 'organization.changed', '192.0.2.1', ''`,
      [id],
    )
  const refusing = { ...ctx, pool: refusingFor(first, 'expire_audit_log') }
  await expect(expireAuditLogs(refusing, never)).rejects.toThrow('refused')
  const { rows: left } = await ctx.pool.query('SELECT organization_id AS id FROM audit_log')
  expect(left).toEqual([{ id: first }])
})

/** The pool, which fails to run a statement for one id, and records the queries without a name. */
function refusingFor(id: string, name: string, queries: string[] = []): Pool {
  return onQuery(ctx.pool, query => {
    if (typeof query === 'string') queries.push(query)
    else if (query.name === name && query.values?.[0] === id) throw new Error('refused')
  })
}

/** Stores a finished task with an old run for each row of the workspaces. */
async function storeOldLog(workspaces: string): Promise<void> {
  await ctx.pool.query(`
    WITH made AS (
      SELECT workspace_id, gen_random_uuid() AS id, uuid_v7(at) AS run_id, at
      FROM (${workspaces}) w, (SELECT now() - interval '10 days' AS at) t
    ),
    tasks_made AS (
      INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, finished_at)
      SELECT id, workspace_id, 'task', 'success', 1, at, at, run_id, at FROM made
    )
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
    SELECT run_id, workspace_id, id, 1, 'task', 'success', at, at, at FROM made`)
}

/** The pool, which records the workspaces whose runs are deleted. */
function watched(pool: Pool, served: string[]): Pool {
  return onQuery(pool, query => {
    if (typeof query !== 'string' && query.name === 'delete_old_runs') served.push(query.values?.[0] ?? '')
  })
}

type Query = string | { name?: string; values?: string[] }

function onQuery(pool: Pool, look: (query: Query) => void): Pool {
  return new Proxy(pool, {
    get(target, key) {
      const value = Reflect.get(target, key, target)
      if (key !== 'query') return typeof value === 'function' ? value.bind(target) : value
      return async (query: Query, ...more: unknown[]) => {
        look(query)
        return value.call(target, query, ...more)
      }
    },
  })
}

async function rows(table: string): Promise<number> {
  return (await ctx.pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n
}
