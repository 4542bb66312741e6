import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, lagsOf, setupIntake } from './setup-intake.ts'

const p95 = (lags: number[]) => lags[Math.ceil(lags.length * 0.95) - 1]

describe.each(queueBackends())('workspaces share a dispatcher, with the queue on %s', backend => {
  const [greedy, modest] = [aWorkspace(), aWorkspace()]
  let test: IntakeTest
  let target: Receiver
  let other: Receiver
  beforeEach(async () => {
    target = await startReceiver()
    other = await startReceiver()
    test = await setupIntake(backend, 6)
  })
  afterEach(async () => {
    await Promise.all([target?.close(), other?.close()]) // ends the calls that hang
    await test?.close()
  })

  const runsOf = (workspace: string, count: number, timeout = 20_000) =>
    expect.poll(async () => (await lagsOf(test.pool, workspace)).length, { timeout }).toBe(count)

  it('a thousand tasks that hang delay another workspace by less than a second (p95)', async () => {
    target.answer('/hang', { does: 'hang' })
    const load = { workspace: greedy, url: target.url('/hang'), dueInMs: 0, timeoutMs: 60_000 }
    await test.schedule(await test.store({ ...load, count: 1000 }))
    await test.start()
    await target.waitFor(20, 10_000)
    for (let i = 0; i < 40; i++) {
      const url = (i % 2 === 0 ? other : target).url('/')
      const tasks = await test.store({ count: 1, workspace: modest, url, dueInMs: 1_000 + i * 50 })
      await test.schedule(tasks)
    }
    await runsOf(modest, 40)
    expect(p95(await lagsOf(test.pool, modest))).toBeLessThan(1_000)
    expect(target.requestsTo('/hang').length).toBeLessThanOrEqual(32)
  })

  it('a twentieth of a backlog of a hundred thousand tasks, at most, goes before another workspace’s single one', async () => {
    const backlog = await test.store({ count: 100_000, workspace: greedy, url: target.url('/'), dueInMs: -60_000 })
    await test.schedule(backlog)
    const [single] = await test.store({ count: 1, workspace: modest, url: other.url('/'), dueInMs: 2_500 })
    if (!single) throw new Error('not stored')
    await test.schedule([{ id: single.id, dueAt: single.dueAt }])
    await test.start()
    await other.waitFor(1, 60_000)
    const arrivedAt = other.requests[0]?.receivedAt ?? Number.POSITIVE_INFINITY
    const between = target.requests.filter(({ receivedAt }) => receivedAt > +single.dueAt && receivedAt < arrivedAt)
    expect(between.length).toBeLessThan(5_000)
    await expect.poll(() => target.requests.length, { timeout: 90_000 }).toBeGreaterThan(2_000) // nor does it starve
  }, 120_000)

  it('thousands of tasks that were created one by one let another workspace’s go first', async () => {
    const count = backend === 'redis' ? 10_000 : 2_000 // PostgreSQL takes jobs ten times slower
    target.answer('/', { delayMs: 20 }) // otherwise the burst is over before the other job is taken from PostgreSQL
    const burst = await test.store({ count, workspace: greedy, url: target.url('/'), dueInMs: -1_000 })
    for (let i = 0; i < burst.length; i += 100) {
      await Promise.all(burst.slice(i, i + 100).map(task => test.schedule([task])))
    }
    await test.schedule(await test.store({ count: 1, workspace: modest, url: other.url('/'), dueInMs: 0 }))
    await test.start()
    await runsOf(modest, 1)
    expect(target.requests.length).toBeLessThan(count / 2)
  }, 120_000)
})
