import { listOpenCircuits, requestCircuitReset } from '@belfry/db'
import { type Receiver, startReceiver } from '@belfry/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, setupIntake } from './setup-intake.ts'

let test: IntakeTest
let target: Receiver
beforeAll(async () => {
  target = await startReceiver()
  test = await setupIntake('postgres', 0)
})
afterAll(async () => {
  await test.close()
  await target.close()
})

it('the open breakers of two dispatchers are published, and a reset closes both', async () => {
  const workspace = aWorkspace()
  const { host } = new URL(target.url('/'))
  target.answer('/broken', { status: 500 })
  await test.store({ count: 600, workspace, url: target.url('/broken'), dueInMs: 0 })
  await Promise.all([test.start(), test.start()])
  const listed = () => listOpenCircuits(test.pool, workspace)
  await expect.poll(listed, { timeout: 20_000 }).toMatchObject([{ host, state: 'open', dispatchers: 2 }])
  const [circuit] = await listed()
  expect((circuit?.nextProbeAt.getTime() ?? 0) - Date.now()).toBeGreaterThan(5_000)
  const text = `SELECT count(*)::int AS n FROM tasks WHERE workspace_id = $1 AND state IN ('pending', 'retrying')`
  const waiting = async () => (await test.pool.query(text, [workspace])).rows[0].n
  expect(await waiting()).toBeGreaterThan(0)
  target.answer('/broken', { status: 200 })
  const resetAt = performance.now()
  expect(await requestCircuitReset(test.pool, { workspaceId: workspace, host })).toBe(2)
  await expect.poll(waiting, { timeout: 20_000 }).toBe(0)
  // The breakers would have stayed open for half a minute.
  expect(performance.now() - resetAt).toBeLessThan(25_000)
  await expect.poll(listed, { timeout: 5_000 }).toEqual([])
}, 90_000)
