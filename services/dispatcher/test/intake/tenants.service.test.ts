import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, setupIntake } from './setup-intake.ts'
import { storeAccount } from './store-account.ts'

describe.each(queueBackends())('tenants share a dispatcher, with the queue on %s', backend => {
  let test: IntakeTest
  let hanging: Receiver[]
  let target: Receiver
  beforeEach(async () => {
    hanging = await Promise.all(Array.from({ length: 12 }, () => startReceiver()))
    target = await startReceiver()
    test = await setupIntake(backend, 12)
  })
  afterEach(async () => {
    await Promise.all([...hanging, target].map(receiver => receiver?.close())) // ends the calls that hang
    await test?.close()
  })

  const hangingRequests = () => hanging.reduce((sum, receiver) => sum + receiver.requests.length, 0)

  it('an organization of the free tier holds a quarter of the slots', async () => {
    const { workspaces } = await storeAccount(test.pool, {
      organizations: 1,
      each: 2,
      tier: 'free',
      hasSucceeded: true,
    })
    for (const receiver of hanging) receiver.answer('/', { does: 'hang' })
    for (const workspace of workspaces) {
      for (const receiver of hanging) {
        const load = { workspace, url: receiver.url('/'), count: 12, dueInMs: 0, timeoutMs: 60_000 }
        await test.schedule(await test.store(load))
      }
    }
    await test.start({ SLOW_CALLS: '0' })
    await expect.poll(hangingRequests, { timeout: 20_000 }).toBeGreaterThanOrEqual(49)
    await new Promise(resolve => setTimeout(resolve, 500))
    expect(hangingRequests()).toBeLessThanOrEqual(50)
  })

  it('calls that hang take no slots: those of others start, and none is made twice when they end', async () => {
    for (const receiver of hanging) receiver.answer('/', { does: 'hang' })
    for (let i = 0; i < 30; i++) {
      const { workspaces } = await storeAccount(test.pool, { organizations: 1, each: 1 })
      const url = hanging[i % hanging.length]?.url('/') ?? ''
      await test.schedule(
        await test.store({ workspace: workspaces[0] ?? '', url, count: 2, dueInMs: 0, timeoutMs: 60_000 }),
      )
    }
    const stop = await test.start({ DISPATCH_CONCURRENCY: '30' })
    await expect.poll(hangingRequests, { timeout: 60_000 }).toBe(60)
    const others = { workspace: aWorkspace(), url: target.url('/'), count: 100, dueInMs: 0 }
    await test.schedule(await test.store(others))
    await target.waitFor(100, 20_000)
    await Promise.all(hanging.map(receiver => receiver.close()))
    await stop()
    const states = await test.pool.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM tasks WHERE state <> 'processing'`,
    )
    expect([states.rows[0]?.n, hangingRequests()]).toEqual([160, 60])
  }, 120_000)

  it('a suspended user suspends the organizations of that account', async () => {
    const { owner, workspaces } = await storeAccount(test.pool, { organizations: 2, each: 1 })
    await test.pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [owner])
    await test.start()
    for (const workspace of [...workspaces, aWorkspace()]) {
      await test.schedule(await test.store({ workspace, url: target.url(`/${workspace}`), count: 1, dueInMs: 500 }))
    }
    await target.waitFor(1, 10_000)
    await new Promise(resolve => setTimeout(resolve, 1_000))
    expect(target.requests).toHaveLength(1)
    await test.pool.query('UPDATE users SET suspended_at = NULL WHERE id = $1', [owner])
    await target.waitFor(3, 10_000)
  })
})
