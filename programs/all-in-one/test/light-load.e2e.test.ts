import { randomBytes, randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPool, type Pool } from '@belfry/db/postgres/pool'
import { freePort } from '@belfry/embedded'
import { createLogger, openHost, type Service } from '@belfry/runtime'
import { createTestDatabase, startReceiver } from '@belfry/test-support'
import { expect, it, onTestFinished, vi } from 'vitest'
import { loadRoles } from '../src/load-roles.ts'

// What a small installation may cost, on any machine: one process without Redis. A change that exceeds a budget needs a
// reason. An idle machine needs 2.4 transactions for an event, and at rest 300 a minute.
const budgets = { transactionsPerEvent: 2.5, transactionsPerMinuteAtRest: 360 }
const events = 200
const perSecond = 100

const apiKey = `bf_${'0'.repeat(32)}2wjyrI`

it('delivers an event at a low rate within its budget of transactions', async () => {
  const { url, pool, count } = await startBelfry()
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const publish = async (number: number) => {
    await sleep((number * 1000) / perSecond)
    const response = await fetch(`${url}/api/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify({ topic: 'a.topic', target_url: receiver.url('/'), payload: { number } }),
    })
    expect(response.status).toBe(202)
    await response.arrayBuffer()
  }
  const runs = async () => (await pool.query('SELECT count(*)::int AS runs FROM runs')).rows[0].runs
  await publish(0) // loads the caches
  await expect.poll(runs, { timeout: 10_000 }).toBe(1)
  const costs: number[] = []
  const measure = async () => {
    const [before, done] = [count(), await runs()]
    await Promise.all(Array.from({ length: events }, (_, number) => publish(number)))
    await expect.poll(runs, { timeout: 10_000, interval: 200 }).toBe(done + events)
    costs.push((count() - before) / events)
  }
  // What else the machine does can only add: it delays events, and chores come by time.
  do await measure()
  while (Math.min(...costs) >= budgets.transactionsPerEvent && costs.length < 3)
  expect(Math.min(...costs), costs.join(', ')).toBeLessThan(budgets.transactionsPerEvent)
}, 60_000)

it('rests within its budget of transactions', async () => {
  const { count } = await startBelfry()
  await sleep(10_000) // the pauses of chores double while there is nothing to do
  const before = count()
  await sleep(20_000)
  const perMinute = (count() - before) * 3
  expect(perMinute).toBeLessThan(budgets.transactionsPerMinuteAtRest)
}, 60_000)

/** Starts all roles in this process. `count`: how many transactions it has begun. */
async function startBelfry(): Promise<{ url: string; pool: Pool; count: () => number }> {
  const database = await createTestDatabase()
  const pool = openPool(database.url, { max: 1, onError: error => console.error(error) })
  await storeApiKey(pool)
  const count = await countTransactions(pool)
  const stop = new AbortController()
  setMaxListeners(0, stop.signal) // each chore listens
  const port = String(await freePort())
  const env = {
    DATABASE_URL: database.url,
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    JWT_SECRET: 'a secret of thirty-two characters or more',
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
  }
  const log = createLogger('belfry', 'silent')
  const roles = await loadRoles(['api', 'scheduler', 'dispatcher'], env, '')
  const names = roles.map(({ name }) => name)
  const host = await openHost(log, stop.signal, { roles: names, operatorListen: null, traces: false })
  const services: Service[] = []
  for (const { start } of roles) services.push(await start(log, host))
  onTestFinished(async () => {
    stop.abort()
    await Promise.all(services.map(service => service.drain()))
    await host.close()
    await pool.end()
    await database.drop()
  })
  return { url: env.PUBLIC_URL, pool, count }
}

async function storeApiKey(pool: Pool): Promise<void> {
  const id = randomUUID()
  await pool.query(`INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', $2, 'unicorn')`, [id, id])
  await pool.query(`INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $1, 'A')`, [id])
  const text = `INSERT INTO api_keys (id, workspace_id, name, prefix, hash, created_by)
                VALUES ($1, $1, 'A', 'bf_', sha256($2::bytea), $1)`
  await pool.query(text, [id, apiKey])
}

// PostgreSQL's own count lags behind by seconds, because its processes report it rarely.
async function countTransactions(pool: Pool): Promise<() => number> {
  const own = await pool.connect()
  own.release()
  const open = new WeakSet<object>()
  let transactions = 0
  const prototype = Object.getPrototypeOf(own)
  const { query } = prototype
  const spy = vi.spyOn(prototype, 'query').mockImplementation(function (this: object, ...args: unknown[]) {
    const [first] = args as [string | { text: string }]
    const text = typeof first === 'string' ? first : first.text
    if (this !== own && !open.has(this)) transactions++
    if (text.startsWith('BEGIN')) open.add(this)
    if (/^(COMMIT|ROLLBACK)$/.test(text)) open.delete(this)
    return query.apply(this, args)
  })
  onTestFinished(() => spy.mockRestore())
  return () => transactions
}
