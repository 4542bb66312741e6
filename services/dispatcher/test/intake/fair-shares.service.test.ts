import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, lagsOf, setupIntake } from './setup-intake.ts'

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

  it('no host gets more than HOST_CONCURRENCY calls at once, from all workspaces together', async () => {
    target.answer('/hang', { does: 'hang' })
    for (const workspace of [greedy, modest, aWorkspace()]) {
      const load = { workspace, url: target.url('/hang'), dueInMs: 0, timeoutMs: 60_000 }
      await test.schedule(await test.store({ ...load, count: 60 }))
    }
    await test.start({ HOST_CONCURRENCY: '8' })
    await target.waitFor(8, 10_000)
    await test.schedule(await test.store({ count: 60, workspace: modest, url: other.url('/'), dueInMs: 0 }))
    await other.waitFor(60, 10_000)
    expect(target.requests.length).toBe(8)
    expect(target.openConnections()).toBe(8)
  })

  it('the circuit breaker of a failing host opens: its tasks wait without an attempt, and other workspaces call it', async () => {
    target.answer('/broken', { status: 500 })
    const broken = await test.store({ count: 300, workspace: greedy, url: target.url('/broken'), dueInMs: 0 })
    await test.schedule(broken)
    await test.start()
    await target.waitFor(20, 10_000)
    const elsewhere = [
      ...(await test.store({ count: 40, workspace: modest, url: target.url('/works'), dueInMs: 0 })),
      ...(await test.store({ count: 40, workspace: greedy, url: other.url('/'), dueInMs: 0 })),
    ]
    await test.schedule(elsewhere)
    await runsOf(modest, 40)
    await other.waitFor(40, 10_000)
    const text = `SELECT count(*)::int AS n FROM tasks WHERE workspace_id = $1 AND state IN ('pending', 'retrying') AND attempts = 0`
    const waiting = async () => (await test.pool.query(text, [greedy])).rows[0].n
    await expect.poll(async () => (await waiting()) + target.requestsTo('/broken').length).toBe(300)
    expect(await waiting()).toBeGreaterThan(200)
  })
})
