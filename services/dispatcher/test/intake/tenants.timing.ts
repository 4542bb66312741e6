import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, lagsOf, setupIntake } from './setup-intake.ts'
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

  const runsOf = (workspace: string, count: number, timeout = 20_000) =>
    expect.poll(async () => (await lagsOf(test.pool, workspace)).length, { timeout }).toBe(count)

  const hangingRequests = () => hanging.reduce((sum, receiver) => sum + receiver.requests.length, 0)

  it('an account with 26 workspaces in 13 organizations and hanging targets delays another tenant by less than a second', async () => {
    const { workspaces } = await storeAccount(test.pool, { organizations: 13, each: 2 })
    for (const receiver of hanging) receiver.answer('/', { does: 'hang' })
    for (const workspace of workspaces) {
      for (const receiver of hanging) {
        const load = { workspace, url: receiver.url('/'), count: 12, dueInMs: 0, timeoutMs: 60_000 }
        await test.schedule(await test.store(load))
      }
    }
    await test.start({ SLOW_CALLS: '0' })
    await expect.poll(hangingRequests, { timeout: 20_000 }).toBeGreaterThan(150)
    const victim = aWorkspace()
    for (let i = 0; i < 20; i++) {
      await test.schedule(
        await test.store({ count: 1, workspace: victim, url: target.url('/'), dueInMs: 1_000 + i * 50 }),
      )
    }
    await runsOf(victim, 20)
    expect((await lagsOf(test.pool, victim)).at(-1)).toBeLessThan(1_000)
    expect(hangingRequests()).toBeLessThanOrEqual(180)
  }, 60_000)

  it('a suspension stops the calls of an organization within a second, and a resumption delivers its tasks', async () => {
    const { organizations, workspaces } = await storeAccount(test.pool, { organizations: 1, each: 2 })
    target.answer('/', { delayMs: 100 })
    for (const workspace of workspaces) {
      const load = { workspace, url: target.url('/'), count: 500, timeoutMs: 10_000 }
      await test.schedule(await test.store({ ...load, dueInMs: 0 }))
    }
    await test.start({ DISPATCH_CONCURRENCY: '20' })
    await target.waitFor(20, 10_000)
    const suspend = (at: string) =>
      test.pool.query(`UPDATE organizations SET suspended_at = ${at} WHERE id = $1`, [organizations[0]])
    await suspend('now()')
    await new Promise(resolve => setTimeout(resolve, 1_000))
    const before = target.requests.length
    expect(before).toBeLessThan(900)
    await new Promise(resolve => setTimeout(resolve, 4_000)) // longer than searches for late work need
    expect(target.requests.length).toBe(before)
    const states = await test.pool.query<{ state: string; n: number }>(
      `SELECT state, count(*)::int AS n FROM tasks WHERE workspace_id = ANY ($1) GROUP BY state ORDER BY state`,
      [workspaces],
    )
    expect(states.rows).toEqual([
      { state: 'pending', n: 1_000 - before },
      { state: 'success', n: before },
    ])
    target.answer('/', {})
    await suspend('NULL')
    for (const workspace of workspaces) await runsOf(workspace, 500)
    expect(target.requests.length).toBe(1_000)
  }, 60_000)
})
