import { setTimeout as sleep } from 'node:timers/promises'
import { listOpenCircuits, pauseHost, requestCircuitReset } from '@belfry/db/dispatchers/host-circuits'
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

it('a dispatcher that leaves does not enter again by a heartbeat', async () => {
  await start(1)
  // Longer than the time between two heartbeats.
  await test.pool.query(`
    CREATE FUNCTION leave_slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1.5); RETURN OLD; END';
    CREATE TRIGGER leave_slowly AFTER DELETE ON dispatchers FOR EACH ROW EXECUTE FUNCTION leave_slowly()`)
  await dispatchers.pop()?.()
  await test.pool.query('DROP FUNCTION leave_slowly CASCADE')
  expect((await test.pool.query('SELECT FROM dispatchers')).rowCount).toBe(0)
}, 30_000)

it('a paused host is not called by any dispatcher, a new one included, until it is resumed', async () => {
  const [workspace, other] = [aWorkspace(), aWorkspace()]
  const { host } = new URL(target.url('/'))
  const url = target.url('/paused')
  await pauseHost(test.pool, { workspaceId: workspace, host }, true)
  await start(1)
  await test.store({ count: 20, workspace, url, dueInMs: 0 })
  await test.store({ count: 1, workspace: other, url: target.url('/other'), dueInMs: 0 })
  // The callback of a task that was sent before.
  await test.pool.query(
    `INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
     VALUES (overlay(uuid_v7(clock_timestamp())::text PLACING '8' FROM 15)::uuid, $1, 'callback', now(), now())`,
    [workspace],
  )
  await test.pool.query(
    `INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT id, 'C', $2, 'POST', 0, 'fixed', 1000, 1000, 5000 FROM tasks WHERE workspace_id = $1 AND source = 'callback'`,
    [workspace, target.url('/callback')],
  )
  await start(1)
  await test.store({ count: 5, workspace, url, dueInMs: 0 })
  await expect.poll(() => target.requestsTo('/callback').length, { timeout: 20_000 }).toBe(1)
  await expect.poll(() => target.requestsTo('/other').length, { timeout: 20_000 }).toBe(1)
  expect([target.requestsTo('/paused').length, await unfinished(workspace)]).toEqual([0, 25])
  await pauseHost(test.pool, { workspaceId: workspace, host }, false)
  await expect.poll(() => unfinished(workspace), { timeout: 20_000 }).toBe(0)
  const states = async () =>
    (await test.pool.query('SELECT DISTINCT state, attempts FROM tasks WHERE workspace_id = $1', [workspace])).rows
  await expect.poll(states, { timeout: 20_000 }).toEqual([{ state: 'success', attempts: 1 }])
  await pauseHost(test.pool, { workspaceId: workspace, host }, true)
  await test.store({ count: 5, workspace, url, dueInMs: 2_000 })
  await test.store({ count: 1, workspace: other, url: target.url('/later'), dueInMs: 2_500 })
  await expect.poll(() => target.requestsTo('/later').length, { timeout: 20_000 }).toBe(1)
  expect([target.requestsTo('/paused').length, await unfinished(workspace)]).toEqual([25, 5])
}, 90_000)

it('dispatchers divide the calls to a host, also after one has joined or left', async () => {
  const workspace = aWorkspace()
  const delayMs = 1_000
  target.answer('/divided', { status: 200, delayMs })
  await test.store({ count: 1_500, workspace, url: target.url('/divided'), dueInMs: 0 })
  // A workspace alone gets 18 of the 20.
  const atOnce = () => {
    const calls = target.requestsTo('/divided').map(({ receivedAt }) => receivedAt)
    const recent = calls.filter(at => at > Date.now() - 1_000)
    return Math.max(0, ...recent.map(at => calls.filter(other => other <= at && at < other + delayMs).length))
  }
  const uses = () => expect.poll(atOnce, { timeout: 20_000 }).toBeGreaterThan(14)
  await start(1, { HOST_CONCURRENCY: '20' })
  await uses()
  await start(1, { HOST_CONCURRENCY: '20' })
  await sleep(2_000) // it calls by now
  await expect.poll(atOnce, { timeout: 20_000 }).toBeLessThanOrEqual(20)
  await uses()
  await dispatchers.shift()?.()
  await sleep(2_000) // the calls of the last second are of one
  await uses()
  expect(await unfinished(workspace)).toBeGreaterThan(0)
}, 90_000)
