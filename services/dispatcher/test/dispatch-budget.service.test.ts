import { once } from 'node:events'
import type { HeapProfiler } from 'node:inspector'
import { Session } from 'node:inspector/promises'
import { Worker } from 'node:worker_threads'
import { deployMigrations } from '@belfry/db/migrate'
import { startOwnServer } from '@belfry/test-support'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, setupIntake } from './intake/setup-intake.ts'

// What a dispatch may cost, on any machine: a change of the hot path that exceeds a budget needs a measurement, and a reason.
// An idle machine needs 28,000 bytes and 0.03 transactions, a busy one more, because chores run meanwhile.
const budgets = {
  allocatedBytes: 33_000,
  transactions: 0.08,
  walBytes: 2_800,
}
const [warmUp, measured] = [1_000, 4_000]

let test: IntakeTest
let target: Worker
let url: string
let server: Awaited<ReturnType<typeof startOwnServer>>
beforeAll(async () => {
  // The WAL of a server is that of all tests on it.
  server = await startOwnServer(deployMigrations)
  test = await setupIntake('postgres', 0, async () => ({ url: server.url, giveBack() {} }))
  // A heap of its own.
  target = new Worker(
    `const server = require('node:http').createServer((request, response) => request.resume().on('end', () => response.end()))
     server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port))`,
    { eval: true },
  )
  const [port] = await once(target, 'message')
  url = `http://127.0.0.1:${port}/`
})
afterAll(async () => {
  await test?.close()
  await target?.terminate()
  await server?.stop()
})

it('makes a dispatch within its budgets of memory, transactions and WAL', async () => {
  const session = new Session()
  session.connect()
  await (await dispatch(await storeTasks(warmUp), warmUp))()
  const workspace = await storeTasks(measured)
  await test.pool.query('CHECKPOINT')
  const before = await counters()
  await session.post('HeapProfiler.startSampling', sampling)
  const stop = await dispatch(workspace, measured)
  const { profile } = await session.post('HeapProfiler.stopSampling')
  const after = await counters()
  await stop()
  session.disconnect()
  const cost = {
    allocatedBytes: bytesOf(profile.head) / measured,
    transactions: (after.transactions - before.transactions) / measured,
    walBytes: (after.walBytes - before.walBytes) / measured,
  }
  const exceeded = Object.entries(budgets).filter(([name, budget]) => cost[name as keyof typeof cost] > budget)
  expect(exceeded, JSON.stringify(cost)).toEqual([])
}, 60_000)

// Also what was collected meanwhile.
const sampling = {
  samplingInterval: 8_192,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
}

function bytesOf({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + bytesOf(child), selfSize)
}

async function storeTasks(count: number): Promise<string> {
  const workspace = aWorkspace()
  await test.store({ count, workspace, url, dueInMs: -1_000 })
  return workspace
}

/** Returns what stops the dispatcher. */
async function dispatch(workspace: string, count: number): Promise<() => Promise<void>> {
  const stop = await test.start({ DISPATCH_CONCURRENCY: '200', HOST_CONCURRENCY: '200' })
  const text = 'SELECT count(*)::int AS runs FROM runs WHERE workspace_id = $1'
  const runs = async () => (await test.pool.query(text, [workspace])).rows[0].runs
  await expect.poll(runs, { timeout: 30_000, interval: 250 }).toBe(count)
  return stop
}

async function counters(): Promise<{ transactions: number; walBytes: number }> {
  const text = `
    SELECT pg_stat_force_next_flush(), (SELECT xact_commit::int FROM pg_stat_database WHERE datname = current_database()) AS transactions,
           pg_current_wal_insert_lsn() - '0/0' AS "walBytes"`
  const { rows } = await test.pool.query(text)
  return { transactions: rows[0].transactions, walBytes: Number(rows[0].walBytes) }
}
