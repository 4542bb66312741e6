import { listOpenCircuits } from '@belfry/db/dispatchers/host-circuits'
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

/** Returns how many calls there were in each round: calls that have less than a second between them. */
function roundsOf(calls: ReadonlyArray<{ receivedAt: number }>): number[] {
  const rounds: number[] = []
  for (const [i, { receivedAt }] of calls.entries()) {
    const isNew = receivedAt - (calls[i - 1]?.receivedAt ?? 0) > 1_000
    rounds.push(isNew ? 1 : (rounds.pop() ?? 0) + 1)
  }
  return rounds
}

it('two dispatchers make the probes of one, and both continue when a probe succeeds', async () => {
  const workspace = aWorkspace()
  target.answer('/dead', { status: 500 })
  await test.store({ count: 800, workspace, url: target.url('/dead'), dueInMs: 0 })
  await start(2, { CIRCUIT_OPEN_MS: '2000' })
  const rounds = () => roundsOf(target.requestsTo('/dead'))
  await expect.poll(() => rounds().length, { timeout: 30_000 }).toBe(4)
  expect(rounds().slice(1, 3)).toEqual([3, 3])
  target.answer('/dead', { status: 200 })
  await expect.poll(() => unfinished(workspace), { timeout: 20_000 }).toBe(0)
  await expect.poll(() => listOpenCircuits(test.pool, workspace), { timeout: 5_000 }).toEqual([])
}, 90_000)

it('a host pauses the calls of all dispatchers with Retry-After, where that is on', async () => {
  const workspace = aWorkspace()
  target.answer('/pause', [{ status: 503, headers: { 'retry-after': '4' } }, { status: 200 }])
  await start(2, { HOST_RETRY_AFTER_MAX_MS: '3000' })
  await test.store({ count: 1, workspace, url: target.url('/pause'), dueInMs: 100 })
  await expect
    .poll(() => listOpenCircuits(test.pool, workspace), { timeout: 10_000 })
    .toMatchObject([{ dispatchers: 2 }])
  await test.store({ count: 40, workspace, url: target.url('/pause'), dueInMs: 0 })
  const calls = () => target.requestsTo('/pause').map(({ receivedAt }) => receivedAt)
  await expect.poll(() => calls().length, { timeout: 15_000 }).toBe(41)
  const pauseMs = (calls()[1] ?? 0) - (calls()[0] ?? 0)
  expect(pauseMs).toBeGreaterThan(2_800)
  expect(pauseMs).toBeLessThan(6_000)
}, 60_000)

it('HOST_RATE limits the calls to a host that all dispatchers start in a second, over all workspaces', async () => {
  const workspaces = [aWorkspace(), aWorkspace()]
  for (const workspace of workspaces) {
    await test.store({ count: 60, workspace, url: target.url('/rated'), dueInMs: 6_000 })
  }
  await start(2, { HOST_RATE: '20' })
  const calls = () => target.requestsTo('/rated')
  await expect.poll(() => calls().length, { timeout: 40_000 }).toBe(120)
  // The starts, because calls arrive late on a busy machine, and then close to those of the next second.
  const starts = async () => {
    const { rows } = await test.pool.query<{ at: number }>(
      `SELECT extract(epoch FROM started_at)::float8 * 1000 AS at FROM runs WHERE workspace_id = ANY ($1) ORDER BY 1`,
      [workspaces],
    )
    return rows.map(({ at }) => at)
  }
  await expect.poll(async () => (await starts()).length, { timeout: 10_000 }).toBe(120)
  const times = await starts()
  const within = (ms: number) => Math.max(...times.map(from => times.filter(t => t >= from && t < from + ms).length))
  expect(within(500)).toBeLessThanOrEqual(20)
  const lastMs = (times.at(-1) ?? 0) - (times[0] ?? 0)
  expect(lastMs).toBeGreaterThan(4_500)
  expect(lastMs).toBeLessThan(9_000)
}, 90_000)
