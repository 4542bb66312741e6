import { createServer } from 'node:net'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, lagsOf, setupIntake } from './setup-intake.ts'

const count = 6_000

let test: IntakeTest
let target: Receiver
beforeEach(async () => {
  target = await startReceiver()
  test = await setupIntake('redis', 13)
})
afterEach(async () => {
  await test?.close()
  await target?.close()
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

/** How many tasks the dispatchers have taken straight from PostgreSQL. */
async function refilled(ports: number[]): Promise<number[]> {
  return Promise.all(
    ports.map(async port => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return Number(/^belfry_tasks_refilled_total(?:\{.*\})? (\d+)/m.exec(text)?.[1] ?? 0)
    }),
  )
}

it.each([1, 2, 3])(
  '%i dispatchers share a backlog: hardly any task is taken twice',
  async dispatchers => {
    const workspace = aWorkspace()
    // No queue has a job for them.
    await test.store({ count, workspace, url: target.url('/'), dueInMs: -120_000 })
    const ports: number[] = []
    for (let i = 0; i < dispatchers; i++) ports.push(await freePort())
    // All of them know of each other before the first one begins to work.
    const gate = await test.pool.connect()
    await gate.query('BEGIN; LOCK TABLE waiting_floor IN ACCESS EXCLUSIVE MODE')
    await Promise.all(ports.map(port => test.start({ METRICS_PORT: String(port) })))
    await new Promise(resolve => setTimeout(resolve, 1_500))
    await gate.query('COMMIT')
    gate.release()
    await expect.poll(async () => (await lagsOf(test.pool, workspace)).length, { timeout: 60_000 }).toBe(count)
    const taken = await refilled(ports)
    const total = taken.reduce((sum, one) => sum + one)
    expect(total).toBeGreaterThanOrEqual(count)
    expect(total, String(taken)).toBeLessThanOrEqual(count * 1.1)
    for (const one of taken) expect(one).toBeGreaterThan((count / dispatchers) * 0.8)
    expect(target.requests.length).toBe(count)
  },
  90_000,
)

it('a task whose dispatcher does not take it is taken by another one', async () => {
  const workspace = aWorkspace()
  // It has heartbeats, and does nothing.
  const idle = aWorkspace()
  await test.pool.query('INSERT INTO dispatchers (id, session) VALUES ($1, $1)', [idle])
  const beat = 'UPDATE dispatchers SET seen_at = clock_timestamp() WHERE id = $1'
  const beating = setInterval(() => void test.pool.query(beat, [idle]), 500)
  try {
    await test.start()
    // Until it has heard of the other dispatcher, its share is everything.
    const beats = 'SELECT beats::int FROM dispatchers WHERE id <> $1'
    await expect
      .poll(async () => (await test.pool.query(beats, [idle])).rows[0]?.beats, { timeout: 10_000 })
      .toBeGreaterThan(1)
    await test.store({ count: 50, workspace, url: target.url('/'), dueInMs: -5_000 })
    const started = async () => (await lagsOf(test.pool, workspace)).length
    await expect.poll(started, { timeout: 5_000 }).toBeGreaterThan(5)
    await expect.poll(started, { timeout: 40_000 }).toBe(50)
    // Measured by when they started, because a busy machine delays this test as well.
    const lags = await lagsOf(test.pool, workspace)
    const waited = lags.filter(lag => lag > Math.min(...lags) + 1_000).length
    expect(waited).toBeGreaterThan(5)
    expect(waited).toBeLessThan(45)
  } finally {
    clearInterval(beating)
  }
}, 60_000)

it('the share of a dispatcher that died is taken by the others within seconds', async () => {
  const workspace = aWorkspace()
  await test.pool.query('INSERT INTO dispatchers (id, session) VALUES (gen_random_uuid(), gen_random_uuid())')
  await test.start()
  await test.store({ count: 50, workspace, url: target.url('/'), dueInMs: -5_000 })
  await expect.poll(async () => (await lagsOf(test.pool, workspace)).length, { timeout: 8_000 }).toBe(50)
})
