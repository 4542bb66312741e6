import { readFileSync } from 'node:fs'
import { queueBackends, type Receiver, type ReceiverOptions, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'
import { describeRun, hostilities } from './hostile-targets.ts'

const tasks = '/api/v1/scheduler/tasks'
const [backend = 'postgres'] = queueBackends()
const ofEach = 20
const shortMs = 10_000
// A limit for attempts that end by themselves. This process is busy too: it runs all the targets.
const longMs = 20_000
let belfry: Belfry
const receivers: Receiver[] = []
beforeAll(async () => {
  belfry = await startBelfry(backend)
})
afterAll(async () => {
  await belfry?.close()
  await Promise.all(receivers.splice(0).map(receiver => receiver.close()))
})

async function receive(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await startReceiver(options)
  receivers.push(receiver)
  return receiver
}

async function create(name: string, url: string, executeAt: string, more: object = {}) {
  const body = { name, url, method: 'POST', payload: 'x', execute_at: executeAt, timeout_ms: longMs }
  const { status } = await belfry.call('POST', tasks, { ...body, retry: { max_retries: 0 }, ...more })
  expect(status).toBe(201)
}

/** Makes tasks due one after another from now on, regardless of how long it took to create them. */
async function letFallDue(names: string[], spacingMs = 0): Promise<void> {
  const database = new pg.Client(belfry.databaseUrl)
  await database.connect()
  const text = `
    UPDATE tasks SET execute_at = due.at, due_at = due.at
    FROM (
      SELECT task_id, now() + interval '2 seconds' + (row_number() OVER () - 1) * $2::int * interval '1 millisecond' AS at
      FROM task_requests WHERE name = ANY ($1::text[])
    ) due WHERE id = due.task_id`
  await database.query(text, [names, spacingMs])
  await database.query('UPDATE promotion SET watermark = least(watermark, now())')
  await database.end()
}

async function allRuns(): Promise<Array<{ task_name: string; status: string; lag_ms: number; duration_ms: number }>> {
  const runs = []
  for (let cursor = ''; ; ) {
    const { body } = await belfry.call('GET', `/api/v1/scheduler/runs?limit=100${cursor}`)
    runs.push(...body.data)
    if (body.next_cursor === null) return runs
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
  }
}

it('ends each attempt by its deadline, keeps its memory low, and is punctual for others, with 20 of each in parallel', async () => {
  const dispatcher = belfry.services.find(({ name }) => name === 'dispatcher')
  const good = await receive()
  const [later, goodOnes] = [inMs(3_600_000), 20]
  for (let i = 0; i < goodOnes; i++) await create('warm up', good.url('/'), later)
  await letFallDue(['warm up'])
  await good.waitFor(goodOnes)
  const before = memoryOf(dispatcher?.pid, 'VmRSS')

  for (const { name, receiver, isEndless } of hostilities) {
    const more = { timeout_ms: isEndless ? shortMs : longMs }
    const url = (await receive(receiver)).url('/')
    await Promise.all(Array.from({ length: ofEach }, () => create(name, url, later, more)))
  }
  await Promise.all(Array.from({ length: goodOnes }, () => create('good', good.url('/'), later)))
  await letFallDue(hostilities.map(({ name }) => name))
  await letFallDue(['good'], 100)

  const total = 2 * goodOnes + hostilities.length * ofEach
  const runs = await waitFor(allRuns, found => found.length === total, 60_000)
  for (const { name, ends, isEndless } of hostilities) {
    const its = runs.filter(({ task_name }) => task_name === name)
    expect([name, its.map(describeRun)]).toEqual([name, Array(ofEach).fill(ends)])
    const deadlineMs = isEndless ? shortMs : longMs
    expect(Math.max(...its.map(({ duration_ms }) => duration_ms))).toBeLessThan(deadlineMs + 2_000)
  }
  const lags = runs.filter(({ task_name }) => task_name === 'good').map(({ lag_ms }) => lag_ms)
  expect(Math.max(...lags)).toBeLessThan(shortMs) // no task waited for a target that hangs
  const more = memoryOf(dispatcher?.pid, 'VmHWM') - before
  expect(more).toBeLessThan(100)
}, 120_000)

/** In MB; undefined if the operating system does not report it. */
function memoryOf(pid: number | undefined, what: 'VmRSS' | 'VmHWM'): number {
  if (process.platform !== 'linux') return 0
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
}
