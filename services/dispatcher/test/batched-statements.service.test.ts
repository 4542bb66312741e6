import { randomUUID } from 'node:crypto'
import { enterDispatchers, openPool, type Pool } from '@belfry/db'
import { defaultTiers, fromId } from '@belfry/domain'
import { createLogger, openMeter } from '@belfry/runtime'

import { expect, it, onTestFinished } from 'vitest'
import { openMetrics } from '../src/metrics.ts'
import { type BatchContext, claimTask, openBatches } from '../src/statements/batched-statements.ts'
import { aWorkspace, type IntakeTest, setupIntake } from './intake/setup-intake.ts'

type Stage = {
  test: IntakeTest
  pool: Pool
  dispatcherId: string
  ctx: BatchContext
  stop: AbortController
}

async function setup(): Promise<Stage> {
  const test = await setupIntake('postgres', 0)
  const onError = (error: Error) => console.error(error)
  const pool = openPool(test.databaseUrl, { max: 6, onError, plansOnce: true, lockTimeoutMs: 1_000 })
  const dispatcher = await enterDispatchers(pool)
  const stop = new AbortController()
  onTestFinished(async () => {
    stop.abort()
    await pool.end()
    await test.close()
  })
  const log = createLogger('dispatcher', 'silent')
  const batches = openBatches({
    pool,
    dispatcher,
    log,
    tiers: defaultTiers,
    metrics: openMetrics(openMeter('dispatcher')),
    concurrency: 2_000,
    stop: stop.signal,
  })
  return { test, pool, dispatcherId: dispatcher.id, ctx: { batches, log }, stop }
}

async function storeTasks({ test }: Stage, workspace: string, count: number): Promise<string[]> {
  const tasks = await test.store({ count, workspace, url: 'http://127.0.0.1:9/', dueInMs: -1_000 })
  return tasks.map(({ id }) => fromId('task', id) ?? '')
}

const claimAll = ({ ctx }: Stage, ids: string[]) =>
  Promise.all(ids.map(async taskId => (await claimTask(ctx, { taskId, token: randomUUID() })).kind))

const all = (kind: string, count: number) => Array(count).fill(kind)

it.each([
  ['usage', 'that needs a first block', false],
  ['usage', 'that has a block', true],
  ['execution_blocks', 'that has a block', true],
  ['organizations', 'that needs a first block', false],
])(
  'a lock on the row in %s of an organization %s delays no other organization',
  async (table, _has, hasBlock) => {
    const stage = await setup()
    const [locked, other, third] = [aWorkspace(), aWorkspace(), aWorkspace()]
    const lockedIds = await storeTasks(stage, locked, 20)
    const otherIds = await storeTasks(stage, other, 20)
    const thirdIds = await storeTasks(stage, third, 20)
    if (hasBlock) await claimAll(stage, lockedIds.splice(0, 1))
    else if (table === 'usage')
      await stage.pool.query(
        `INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
       VALUES (utc_month(now()), $1, 0, 0, 0, 1)`,
        [locked],
      )
    const holder = await stage.test.pool.connect()
    await holder.query('BEGIN')
    const key = table === 'organizations' ? 'id' : 'organization_id'
    await holder.query(`SELECT FROM ${table} WHERE ${key} = $1 FOR UPDATE`, [locked])
    let settled = 0
    const held = Promise.all(
      lockedIds.map(async taskId => {
        const { kind } = await claimTask(stage.ctx, { taskId, token: randomUUID() })
        settled++
        return kind
      }),
    )
    const begun = performance.now()
    expect(await claimAll(stage, otherIds)).toEqual(all('claimed', 20))
    expect(performance.now() - begun).toBeLessThan(900) // less than the lock timeout of the pool
    const hasWaited = () => stage.pool.query(`SELECT pg_sleep(1.5)`)
    await hasWaited()
    const again = performance.now()
    expect(await claimAll(stage, thirdIds)).toEqual(all('claimed', 20))
    expect(performance.now() - again).toBeLessThan(900)
    if (!(table === 'usage' && hasBlock)) expect(settled).toBe(0)
    await holder.query('ROLLBACK')
    holder.release()
    expect(await held).toEqual(all('claimed', lockedIds.length))
  },
  30_000,
)

it('retries a batch of claims in halves when it exceeds the statement timeout', async () => {
  const stage = await setup()
  const workspace = aWorkspace()
  const ids = await storeTasks(stage, workspace, 64)
  await claimAll(stage, ids.splice(0, 1))
  await slowDown(stage)
  expect(await claimAll(stage, ids)).toEqual(all('claimed', 63))
}, 30_000)

it('retries claims that need a block first in the same way', async () => {
  const stage = await setup()
  const ids = [...(await storeTasks(stage, aWorkspace(), 40)), ...(await storeTasks(stage, aWorkspace(), 40))]
  await slowDown(stage)
  expect(await claimAll(stage, ids)).toEqual(all('claimed', 80))
}, 30_000)

// Each claimed row takes 10 ms, and a statement may take 200 ms.
async function slowDown({ test, pool }: Stage): Promise<void> {
  await test.pool.query(`
    CREATE FUNCTION slow_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$;
    CREATE TRIGGER slow_row BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION slow_row()`)
  pool.on('connect', client => void client.query('SET statement_timeout = 200')) // a failed one is replaced
  const clients = await Promise.all(Array.from({ length: 6 }, () => pool.connect()))
  for (const client of clients) {
    await client.query('SET statement_timeout = 200')
    client.release()
  }
}

it('continues to claim while the executions of one organization are used up', async () => {
  const stage = await setup()
  const [usedUp, other] = [aWorkspace(), aWorkspace()]
  const ids = [...(await storeTasks(stage, usedUp, 30)), ...(await storeTasks(stage, other, 700))]
  await stage.pool.query(`UPDATE organizations SET tier = 'free' WHERE id = $1`, [usedUp])
  await stage.pool.query(
    `INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
     VALUES (utc_month(now()), $1, 9990, 0, 0, 10000)`,
    [usedUp],
  )
  expect((await claimAll(stage, ids)).sort()).toEqual([...all('claimed', 710), ...all('gone', 20)])
  const more = await storeTasks(stage, usedUp, 1)
  expect(await claimTask(stage.ctx, { taskId: more[0] ?? '', token: randomUUID() })).toEqual({
    kind: 'gone',
    refusal: 'monthly_execution_limit',
  })
})
