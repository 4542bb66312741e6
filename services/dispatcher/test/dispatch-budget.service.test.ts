import { once } from 'node:events'
import type { HeapProfiler } from 'node:inspector'
import { Session } from 'node:inspector/promises'
import { Worker } from 'node:worker_threads'
import { deployMigrations } from '@belfry/db/migrate/deploy-migrations'
import { startOwnServer } from '@belfry/test-support'
import { recordFunctions } from '@belfry/test-support/record-functions'
import { overBudgets } from '@belfry/test-support/within-budgets'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { aWorkspace, type IntakeTest, setupIntake } from './intake/setup-intake.ts'

// What a dispatch may cost, on any machine: a change of the hot path that exceeds a budget needs a measurement, and a reason.
// It needs 27,000 bytes, 0.016 to 0.02 statements, and with the chores beside it 0.03 to 0.05 transactions.
const budgets = {
  allocatedBytes: 31_000,
  statements: 0.03,
  // In the answers to a claim and to a record: a column costs the client as much as its value.
  claimValues: 11.5,
  recordValues: 0.2,
  transactions: 0.08,
  walBytes: 2_800,
}
const [warmUp, measured] = [500, 4_000]
const maxFiles = 45

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

it('makes a dispatch within its budgets of memory, statements, columns, transactions and WAL', async () => {
  await (await dispatch(await storeTasks(warmUp), warmUp))()
  const { over, costs } = await overBudgets(budgets, measureDispatches)
  expect(over, JSON.stringify(costs)).toEqual([])
}, 60_000)

type Cost = typeof budgets

async function measureDispatches(): Promise<Cost> {
  const session = new Session()
  session.connect()
  const workspace = await storeTasks(measured)
  await test.pool.query('CHECKPOINT')
  const statements = await watchStatements()
  const before = await counters()
  await session.post('HeapProfiler.startSampling', sampling)
  const stop = await dispatch(workspace, measured)
  const { profile } = await session.post('HeapProfiler.stopSampling')
  const after = await counters()
  await stop()
  session.disconnect()
  vi.restoreAllMocks()
  return {
    allocatedBytes: bytesOf(profile.head) / measured,
    statements: statements.count() / measured,
    claimValues: (statements.values.get('claim_tasks') ?? Number.POSITIVE_INFINITY) / measured,
    recordValues: (statements.values.get('record_attempts') ?? Number.POSITIVE_INFINITY) / measured,
    transactions: (after.transactions - before.transactions) / measured,
    walBytes: (after.walBytes - before.walBytes) / measured,
  }
}

// A newcomer reads these files to follow an attempt, from its timer to its record.
it('makes an attempt with functions of few files', async () => {
  const workspace = aWorkspace()
  const stop = await test.start()
  const recorder = await recordFunctions()
  const runs = async () => (await test.pool.query(countRuns, [workspace])).rows[0].runs
  // With the notice of a task that is due after the test.
  const rest = (ms: number) =>
    recorder.during(async () => {
      const until = Date.now() + ms
      await test.store({ count: 1, workspace: aWorkspace(), url, dueInMs: 14_000 })
      await expect.poll(async () => [await runs(), Date.now() > until]).toEqual([0, true])
    })
  // Ends with its record, however slow the machine is.
  const attempt = (n: number) =>
    recorder.during(async () => {
      await test.store({ count: 1, workspace, url, dueInMs: 300 })
      await expect.poll(runs).toBe(n)
    })
  await rest(2_000) // what the start and the search need
  const idle = await rest(4_000) // with a search for late work
  await attempt(1) // what the first one loads
  const [first, second, third] = [await attempt(2), await attempt(3), await attempt(4)]
  recorder.stop()
  await stop()
  const functions = first.filter(name => second.includes(name) && third.includes(name) && !idle.includes(name))
  const files = [...new Set(functions.flatMap(fileOf))]
  expect(files).toContain('services/dispatcher/src/attempt/attempt.ts')
  expect(files.length, files.sort().join('\n')).toBeLessThanOrEqual(maxFiles)
}, 30_000)

function fileOf(name: string): string[] {
  const [, file] = /((?:services|packages|prisma)\/(?:(?!node_modules|test-support)[^#])*)#/.exec(name) ?? []
  return file?.includes('/src/') ? [file] : []
}

// Also what was collected meanwhile.
const sampling = {
  samplingInterval: 8_192,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
}

function bytesOf({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + bytesOf(child), selfSize)
}

const countRuns = 'SELECT count(*)::int AS runs FROM runs WHERE workspace_id = $1'
const ofAttempts = ['claim_tasks', 'journal_sends', 'record_attempts']

/** Counts the statements of the attempts of this process, and the values of their results. */
async function watchStatements(): Promise<{ count(): number; values: Map<string, number> }> {
  const client = await test.pool.connect()
  client.release()
  const { prototype } = (client.constructor as unknown as { Query: { prototype: DrivenQuery } }).Query // as pg exports it
  const { submit, handleCommandComplete } = prototype
  let count = 0
  const values = new Map<string, number>()
  vi.spyOn(prototype, 'submit').mockImplementation(function (this: DrivenQuery, connection) {
    if (ofAttempts.includes(this.name ?? '')) count += 1
    return submit.call(this, connection)
  })
  vi.spyOn(prototype, 'handleCommandComplete').mockImplementation(function (this: DrivenQuery, ...given) {
    const { rows, fields } = this._result
    const name = this.name ?? this.text
    values.set(name, (values.get(name) ?? 0) + rows.length * fields.length)
    handleCommandComplete.apply(this, given)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  return { count: () => count, values }
}

/** What the driver calls of a query. */
type DrivenQuery = {
  name?: string
  text: string
  submit(connection: unknown): unknown
  _result: { rows: unknown[]; fields: unknown[] }
  handleCommandComplete(...given: unknown[]): void
}

async function storeTasks(count: number): Promise<string> {
  const workspace = aWorkspace()
  await test.store({ count, workspace, url, dueInMs: -1_000 })
  return workspace
}

/** Returns what stops the dispatcher. */
async function dispatch(workspace: string, count: number): Promise<() => Promise<void>> {
  const stop = await test.start({ DISPATCH_CONCURRENCY: '200', HOST_CONCURRENCY: '200' })
  const runs = async () => (await test.pool.query(countRuns, [workspace])).rows[0].runs
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
