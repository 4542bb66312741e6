import { once } from 'node:events'
import type { HeapProfiler } from 'node:inspector'
import { Session } from 'node:inspector/promises'
import { Worker } from 'node:worker_threads'
import { overBudgets } from '@belfry/test-support/within-budgets'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aTaskBody, useApi } from './setup.ts'

// What a create may cost, on any machine: a change of the hot path that exceeds a budget needs a measurement, and a reason.
// An idle machine needs 52,000 bytes and 0.07 transactions, a busy one more, because its batches are smaller.
const budgets = { allocatedBytes: 57_000, transactions: 0.25 }
const [warmUp, measured] = [500, 1_500]

const api = useApi({ TIERS: '{"unicorn":{"requests_per_second":1000000}}' }, { isAlone: true, tier: 'unicorn' })
let callers: Worker
beforeAll(() => {
  // A heap of its own.
  callers = new Worker(
    `const { request, Agent } = require('node:http')
     const { parentPort } = require('node:worker_threads')
     const agent = new Agent({ keepAlive: true, maxSockets: 32 })
     const create = ({ url, headers, body }) => new Promise((resolve, reject) => {
       request(url, { method: 'POST', headers, agent }, response => response.resume().on('end', () => resolve(response.statusCode)))
         .on('error', reject).end(body)
     })
     parentPort.on('message', async ({ count, ...sent }) => {
       const statuses = await Promise.all(Array.from({ length: count }, () => create(sent)))
       parentPort.postMessage(statuses.filter(status => status === 201).length)
     })`,
    { eval: true },
  )
})
afterAll(() => callers.terminate())

it('makes a create within its budgets of memory and transactions', async () => {
  await createTasks(warmUp)
  const { over, costs } = await overBudgets(budgets, measureCreates)
  expect(over, JSON.stringify(costs)).toEqual([])
}, 60_000)

type Cost = typeof budgets

async function measureCreates(): Promise<Cost> {
  const session = new Session()
  session.connect()
  const before = await transactions()
  await session.post('HeapProfiler.startSampling', sampling)
  await createTasks(measured)
  const { profile } = await session.post('HeapProfiler.stopSampling')
  const after = await transactions()
  session.disconnect()
  return { allocatedBytes: bytesOf(profile.head) / measured, transactions: (after - before) / measured }
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

async function createTasks(count: number): Promise<void> {
  const payload = {
    order: 4711,
    lines: Array.from({ length: 12 }, (_, n) => ({ sku: `SKU-${n}`, quantity: n, price: 19.9 })),
  }
  const body = JSON.stringify(aTaskBody({ payload }))
  const headers = { 'X-Api-Key': api.caller.apiKey, 'Content-Type': 'application/json', 'Content-Length': body.length }
  callers.postMessage({ count, url: `${api.url}/api/v1/scheduler/tasks`, headers, body })
  expect(await once(callers, 'message')).toEqual([count])
}

async function transactions(): Promise<number> {
  const text = `
    SELECT pg_stat_force_next_flush(), xact_commit::int AS count FROM pg_stat_database WHERE datname = current_database()`
  return (await api.db.query(text)).rows[0].count
}
