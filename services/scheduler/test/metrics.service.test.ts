import { openPool } from '@belfry/db/postgres/pool'
import { createLogger, exposeMetrics, type Loop, openHost, openMeter } from '@belfry/runtime'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Context } from '../src/context.ts'
import { backgroundLoops } from '../src/loops.ts'
import { measureWaiting, openMetrics } from '../src/metrics.ts'
import { inspectQueueStore, probeDatabase } from '../src/upkeep.ts'
import { openTestContext, openTestQueue } from './setup.ts'

let ctx: Context
let read: (series: string) => Promise<number | undefined>

beforeEach(async () => {
  const options = { roles: ['scheduler'], operatorListen: null, traces: false }
  const { registry } = await openHost(createLogger('scheduler', 'silent'), new AbortController().signal, options)
  ctx = { ...(await openTestContext()), metrics: openMetrics(openMeter('scheduler', registry)) }
  read = async series => {
    const line = (await exposeMetrics(registry)).text.split('\n').find(one => one.startsWith(series))
    return line === undefined ? undefined : Number(line.split(' ')[1])
  }
})
afterEach(() => ctx.close())

it('shows whether PostgreSQL accepts writes, also when it only answers', async () => {
  expect(await read('belfry_database_writable')).toBeUndefined()
  await probeDatabase(ctx)
  expect(await read('belfry_database_writable')).toBe(1)
  const { rows } = await ctx.pool.query('SELECT current_database() AS name')
  const alter = `ALTER DATABASE "${rows[0].name}"`
  await ctx.pool.query(`${alter} SET default_transaction_read_only = on`)
  const pool = openPool(ctx.pool.options.connectionString ?? '', { max: 1, onError: error => console.error(error) })
  try {
    await pool.query('SELECT 1')
    await expect(probeDatabase({ ...ctx, pool })).rejects.toThrow('read-only')
    expect(await read('belfry_database_writable')).toBe(0)
  } finally {
    await pool.end()
    await ctx.pool.query(`${alter} RESET default_transaction_read_only`)
  }
})

it('shows when a chore succeeded last, and not when it fails', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000 })
  try {
    const all = backgroundLoops(ctx)
    const last = () => read('belfry_chore_last_success_timestamp_seconds{chore="expire-log"')
    expect([await last(), await read('belfry_chore_period_seconds{chore="expire-log"')]).toEqual([1_000_000, 3_600])
    const expireLog = (of: Loop[]) => of.find(({ intervalMs }) => intervalMs === 3_600_000)
    vi.setSystemTime(1_000_060_000)
    await expireLog(all)?.run(new AbortController().signal)
    expect(await last()).toBe(1_000_060)
    vi.setSystemTime(1_000_120_000)
    const broken = backgroundLoops({
      ...ctx,
      backgroundPool: { ...ctx.pool, query: () => Promise.reject(new Error('away')) } as never,
    })
    await expireLog(broken)
      ?.run(new AbortController().signal)
      .catch(() => {})
    expect(await last()).toBe(1_000_120) // `backgroundLoops` counts from its own start
    vi.setSystemTime(1_000_180_000)
    await expireLog(broken)
      ?.run(new AbortController().signal)
      .catch(() => {})
    expect(await last()).toBe(1_000_120)
  } finally {
    vi.useRealTimers()
  }
})

it('counts the runs that no partition of a month has', async () => {
  measureWaiting(ctx)
  expect(await read('belfry_runs_without_partition')).toBe(0)
  const columns = 'id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at'
  const values = `gen_random_uuid(), gen_random_uuid(), 1, 'task', 'success', now(), now(), now()`
  await ctx.pool.query(
    `INSERT INTO runs (${columns}) SELECT uuid_v7(now() + interval '40 months'), ${values} FROM generate_series(1, 1001)`,
  )
  await new Promise(resolve => setTimeout(resolve, 600))
  expect(await read('belfry_runs_without_partition')).toBe(1_000)
})

it('counts the unfit settings of Redis', async () => {
  const test = await openTestQueue()
  const findings = vi.fn(async () => ['maxmemory-policy is allkeys-lru: jobs may vanish.'])
  try {
    await inspectQueueStore({ ...test.ctx, metrics: ctx.metrics, queue: { ...test.ctx.queue, findings } })
    expect(await read('belfry_queue_unfit')).toBe(1)
    findings.mockResolvedValue([])
    await inspectQueueStore({ ...test.ctx, metrics: ctx.metrics, queue: { ...test.ctx.queue, findings } })
    expect(await read('belfry_queue_unfit')).toBe(0)
  } finally {
    await test.ctx.close()
  }
})
