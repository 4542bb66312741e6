import { setTimeout as sleep } from 'node:timers/promises'
import type { FloorCalls } from './floor.ts'
import { now, openConnections, openTarget, quantile, rateOfCalls, ratePerSecond } from './load.ts'
import { startBelfry, startFloor } from './programs.ts'

/** A rate, with the floor's rate, or a time in milliseconds. */
export type Figure = { key: string; title: string; value: number; floor?: number }

const concurrency = 200
const connections = 32
const createSeconds = 5
const burst = 8_000
const timed = { count: 2_000, perSecond: 500 }
const light = { count: 120, perSecond: 20 }
const tasksPerBatch = 500
const payload = { order: 4711, lines: Array.from({ length: 12 }, (_, i) => ({ sku: `SKU-${1000 + i}`, price: 19.9 })) }

/** Measures the floor and Belfry on a migrated database without rows, one after the other. */
export async function measure(url: string, folder: string, onStep: (name: string) => void): Promise<Figure[]> {
  using target = await openTarget()
  onStep('the floor')
  const floor = await measureFloor(url, folder, target)
  await using belfry = await startBelfry(url, folder, concurrency)
  onStep('creates')
  const creates = await measureCreates(belfry)
  // Late enough that all tasks are stored by then.
  const leadMs = (count: number) => 2_000 + (count / creates) * 1_000
  onStep('dispatches')
  await createTasks(belfry, target, burst, leadMs(burst), 0)
  const dispatches = rateOfCalls(await target.take(burst))
  onStep('lateness')
  await createTasks(belfry, target, timed.count, leadMs(timed.count), 1_000 / timed.perSecond)
  const lateness = delaysOf(await target.take(timed.count))
  onStep('light load')
  await publishEvents(belfry, target)
  const delays = delaysOf(await target.take(light.count))
  const rate = (key: string, title: string, value: number, floor: number) => ({ key, title, value, floor })
  const times = (key: string, title: string, values: number[]) => [
    { key: `${key}_p50_ms`, title: `${title}, median`, value: quantile(values, 0.5) },
    { key: `${key}_p99_ms`, title: '  99 of 100', value: quantile(values, 0.99) },
  ]
  return [
    rate('creates_per_second', `creates a second, ${connections} connections`, creates, floor.creates),
    rate('dispatches_per_second', `dispatches a second, ${concurrency} in parallel`, dispatches, floor.calls),
    ...times('lateness', `lateness at ${timed.perSecond} tasks a second`, lateness),
    ...times('light', `from event to call at ${light.perSecond} events a second`, delays),
  ]
}

type Target = Awaited<ReturnType<typeof openTarget>>
type Server = { url: string; headers: Record<string, string> }

async function measureFloor(databaseUrl: string, folder: string, target: Target) {
  await using floor = await startFloor(databaseUrl, folder)
  const creates = await measureCreates({ url: floor.url, headers: {} })
  floor.send({ url: target.url, body: JSON.stringify(payload), count: burst, concurrency } satisfies FloorCalls)
  return { creates, calls: rateOfCalls(await target.take(burst)) }
}

async function measureCreates({ url, headers }: Server): Promise<number> {
  using post = openConnections(connections)
  const body = JSON.stringify(newTask('https://example.com/', Date.now() + 365 * 86_400_000))
  const create = () => post(`${url}/api/v1/scheduler/tasks`, body, 201, headers)
  return await ratePerSecond(connections, createSeconds, create)
}

// The path of each call is its due time.
async function createTasks({ url, headers }: Server, target: Target, count: number, inMs: number, apartMs: number) {
  using post = openConnections(4)
  const from = now() + inMs
  const create = (start: number) => {
    const dueTimes = Array.from({ length: tasksPerBatch }, (_, i) => Math.round(from + (start + i) * apartMs))
    const tasks = dueTimes.map(dueAt => newTask(`${target.url}/${dueAt}`, dueAt))
    return post(`${url}/api/v1/scheduler/tasks/batch`, JSON.stringify({ tasks }), 200, headers)
  }
  await Promise.all(Array.from({ length: count / tasksPerBatch }, (_, i) => create(i * tasksPerBatch)))
}

// The path of each call is the time at which its event was sent.
async function publishEvents({ url, headers }: Server, target: Target): Promise<void> {
  using post = openConnections(4)
  for (let i = 0; i < light.count; i++) {
    const body = JSON.stringify({ topic: 'bench.light', target_url: `${target.url}/${now()}`, payload })
    await Promise.all([
      post(`${url}/api/events`, body, 202, headers),
      sleep((1_000 / light.perSecond) * (0.5 + Math.random())),
    ])
  }
}

const newTask = (url: string, dueAt: number) => {
  return { name: 'Bench', url, method: 'POST', execute_at: new Date(dueAt).toISOString(), payload }
}

const delaysOf = (calls: ReadonlyArray<{ path: string; at: number }>) =>
  calls.map(({ path, at }) => at - Number(path.slice(1)))
