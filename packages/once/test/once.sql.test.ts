import { createEmptyDatabase, type TestDatabase } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { once, onceInPool, postgres } from '../src/index.ts'
import { postgresLibraries } from './postgres-libraries.ts'
import { createEffects, deferred, insertEffect, type Receive, testReceive } from './receive.ts'

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await createEmptyDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 30 })
  await pool.query(createEffects)
  await pool.query(postgres.createTable)
  await pool.query(postgres.createTable)
})
afterAll(async () => {
  await pool?.end()
  await database?.drop()
})

const countEffects = async (id: string) => (await pool.query('SELECT FROM effects WHERE id = $1', [id])).rows.length

describe.each(Object.entries(postgresLibraries))('%s', (_name, open) => {
  let receive: Receive
  beforeAll(async () => {
    await pool.query('TRUNCATE effects, received_webhooks')
    receive = open(pool, database.url)
  })

  testReceive(() => receive, countEffects)

  it('refuses work that has ignored an error of PostgreSQL, which rolls back', async () => {
    const request = receive('task_ignoring', async execute => {
      await execute(insertEffect('task_ignoring'))
      await execute('SELECT 1 / 0').then(null, () => {})
    })
    expect(await request.catch(error => `${error} ${error.cause}`)).toMatch(/aborted/)
    expect(await countEffects('task_ignoring')).toBe(0)
  })
})

describe('on PostgreSQL', () => {
  it('refuses statements that are not in one transaction', async () => {
    const request = once(
      (text, ...values) => pool.query(String.raw(text, '$1', '$2'), values),
      'task_pool',
      () => 1,
    )
    await expect(request).rejects.toThrow('Pass the transaction, not the pool.')
  })

  it('works after a savepoint, in the transaction of the caller', async () => {
    const client = await pool.connect()
    await client.query('BEGIN; SAVEPOINT nested')
    const run = (text: TemplateStringsArray, ...values: unknown[]) => client.query(String.raw(text, '$1', '$2'), values)
    expect(await once(run, 'task_savepoint', () => 1)).toBe(1)
    expect(await once(run, 'task_savepoint', () => 2)).toBe(1)
    await client.query('ROLLBACK')
    client.release()
    expect(await onceInPool(pool, 'task_savepoint', () => 3)).toBe(3)
  })

  it('makes a request wait for the first one, and gives it that answer', async () => {
    const mayEnd = deferred()
    const first = onceInPool(pool, 'task_locked', () => mayEnd.promise.then(() => 'done'))
    const has = (state: string) => async () =>
      (await pool.query(`SELECT FROM pg_stat_activity WHERE ${state} AND datname = current_database()`)).rowCount
    await waitFor(has(`state = 'idle in transaction'`), Boolean)
    const second = onceInPool(pool, 'task_locked', () => 'not done')
    await waitFor(has(`wait_event_type = 'Lock'`), Boolean)
    mayEnd.resolve()
    expect(await Promise.all([first, second])).toEqual(['done', 'done'])
  })

  it('forgets ids that are older than some days', async () => {
    await pool.query('TRUNCATE received_webhooks')
    await pool.query(`INSERT INTO received_webhooks (id, received_at)
      SELECT 'task_' || days, now() - make_interval(days => days) FROM generate_series(28, 32) days`)
    await pool.query(postgres.deleteOlderThan(30))
    const { rows } = await pool.query('SELECT id FROM received_webhooks ORDER BY id')
    expect(rows.map(({ id }) => id)).toEqual(['task_28', 'task_29'])
  })
})
