import { setTimeout as sleep } from 'node:timers/promises'
import { listOpenCircuits, requestCircuitReset } from '@belfry/db/dispatchers/host-circuits'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, setupIntake } from './setup-intake.ts'

let test: IntakeTest
let target: Receiver
const dispatchers: Array<() => Promise<void>> = []
beforeAll(async () => {
  target = await startReceiver()
  test = await setupIntake('postgres', 0)
})
afterEach(async () => {
  await Promise.all(dispatchers.splice(0).map(end => end()))
})
afterAll(async () => {
  await test.close()
  await target.close()
})

async function start(count: number, env: Record<string, string> = {}): Promise<void> {
  dispatchers.push(...(await Promise.all(Array.from({ length: count }, () => test.start(env)))))
}

async function unfinished(workspace: string): Promise<number> {
  const text = `SELECT count(*)::int AS n FROM tasks WHERE workspace_id = $1 AND state IN ('pending', 'retrying')`
  return (await test.pool.query(text, [workspace])).rows[0].n
}

it('the open breakers of two dispatchers are published, and a reset closes both', async () => {
  const workspace = aWorkspace()
  const { host } = new URL(target.url('/'))
  target.answer('/broken', { status: 500 })
  await test.store({ count: 600, workspace, url: target.url('/broken'), dueInMs: 0 })
  await start(2)
  const listed = () => listOpenCircuits(test.pool, workspace)
  await expect.poll(listed, { timeout: 20_000 }).toMatchObject([{ host, state: 'open', dispatchers: 2 }])
  const [circuit] = await listed()
  expect((circuit?.nextProbeAt.getTime() ?? 0) - Date.now()).toBeGreaterThan(5_000)
  const waiting = () => unfinished(workspace)
  expect(await waiting()).toBeGreaterThan(0)
  target.answer('/broken', { status: 200 })
  const resetAt = performance.now()
  expect(await requestCircuitReset(test.pool, { workspaceId: workspace, host })).toBe(2)
  await expect.poll(waiting, { timeout: 20_000 }).toBe(0)
  // The breakers would have stayed open for half a minute.
  expect(performance.now() - resetAt).toBeLessThan(25_000)
  await expect.poll(listed, { timeout: 5_000 }).toEqual([])
}, 90_000)

it('a dispatcher that starts knows the breakers that another one has opened and died with', async () => {
  const workspace = aWorkspace()
  target.answer('/gone', { status: 500 })
  await test.store({ count: 300, workspace, url: target.url('/gone'), dueInMs: 0 })
  await start(1)
  await expect.poll(() => listOpenCircuits(test.pool, workspace), { timeout: 20_000 }).toHaveLength(1)
  await dispatchers.pop()?.()
  expect(await listOpenCircuits(test.pool, workspace)).toEqual([])
  const called = target.requestsTo('/gone').length
  await start(1)
  await expect.poll(() => listOpenCircuits(test.pool, workspace), { timeout: 5_000 }).toMatchObject([{ state: 'open' }])
  await sleep(2_000)
  expect(target.requestsTo('/gone').length).toBe(called)
}, 90_000)
