import { readFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type Behaviour, queueBackends, type Receiver, type ReceiverOptions, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'
const [backend = 'postgres'] = queueBackends()
const ofEach = 20
const shortMs = 10_000
// A limit for attempts that end by themselves. This process is busy too: it runs all the targets.
const longMs = 20_000
const nothing = Buffer.alloc(50_000_000)

type Hostility = { name: string; receiver: ReceiverOptions; ends: string; isEndless?: boolean }

const answering = (name: string, ends: string, otherwise: Behaviour): Hostility => ({
  name,
  receiver: { otherwise },
  ends,
})
const waiting = (...hostility: Parameters<typeof answering>) => ({ ...answering(...hostility), isEndless: true })
const compressed = (encoding: string, body: Buffer) =>
  answering(`a bomb in ${encoding}`, 'success 200', { headers: { 'content-encoding': encoding }, body })

const hostilities: Hostility[] = [
  waiting('hangs', 'failed timeout', { does: 'hang' }),
  waiting('drips its headers', 'failed timeout', { does: 'drip', everyMs: 1_000, part: 'all' }),
  waiting('drips its body', 'success 200', { does: 'drip', everyMs: 1_000 }),
  waiting('hangs in its body', 'success 200', { does: 'hang_in_body' }),
  answering('sends a body without end', 'success 200', { does: 'endless_body' }),
  answering('sends headers without end', 'failed invalid_response', { does: 'endless_headers' }),
  answering('sends 103 without end', 'failed invalid_response', { does: 'informational_flood' }),
  answering('sends 100 without end', 'failed invalid_response', { does: 'informational_flood', status: 100 }),
  answering('speaks something else', 'failed invalid_response', { does: 'raw', bytes: '220 mail.example ESMTP\r\n' }),
  answering('closes at once', 'failed connection_reset', { does: 'raw', bytes: '', thenClose: true }),
  answering('closes in its body', 'success 200', { does: 'close_in_body' }),
  answering('sends a body with 204', 'success 204', { does: 'body_on_204' }),
  compressed('gzip', Buffer.concat(Array(20).fill(gzipSync(nothing)))),
  compressed('br', brotliCompressSync(nothing)),
  compressed('zstd', Buffer.concat([Buffer.from('28b52ffd', 'hex'), nothing.subarray(0, 1_000_000)])),
  { name: 'has a self-signed certificate', receiver: { certificateFor: '127.0.0.1' }, ends: 'failed tls' },
  {
    name: 'has an expired certificate',
    receiver: { certificateFor: '127.0.0.1', certificateFault: 'expired' },
    ends: 'failed tls',
  },
]

let belfry: Belfry
const receivers: Receiver[] = []
beforeEach(async () => {
  belfry = await startBelfry(backend)
})
afterEach(async () => {
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

it('waits as long as a valid Retry-After asks, in either form', async () => {
  const asked: Record<string, number> = { '20': 20, '86401': 86_400, '0': 5, ['9'.repeat(400)]: 86_400 }
  asked[new Date(Date.now() + 45_000).toUTCString()] = 25
  asked['Thu, 31 Dec 2099 23:59:59 GMT'] = 86_400
  asked['Sun, 06 Nov 1994 08:49:37 GMT'] = 5
  for (const nonsense of ['NaN', '-20', '20.5', '1e3', 'Infinity', '20, 40', 'tomorrow', '']) asked[nonsense] = 5
  const target = await receive()
  const retry = { max_retries: 3, backoff: 'fixed', base_delay_ms: 5_000 }
  for (const [index, value] of Object.keys(asked).entries()) {
    target.answer(`/${index}`, { status: index % 2 ? 429 : 503, headers: { 'retry-after': value } })
    await create(String(index), target.url(`/${index}`), inMs(3_600_000), { retry })
  }
  await letFallDue([...Object.keys(asked).keys()].map(String))
  const answered = await waitFor(
    () => belfry.call('GET', `${tasks}?state=retrying&limit=100`),
    ({ body }) => body.data.length === Object.keys(asked).length,
  )
  for (const task of answered.body.data) {
    const [value, seconds] = Object.entries(asked)[Number(task.name)] ?? ['', 0]
    const delayMs = Date.parse(task.next_retry_at) - Date.parse(task.last_run.finished_at)
    // Jitter shortens only our own delay, by ten per cent, never the requested one.
    expect([value, delayMs >= seconds * (seconds === 5 ? 900 : 1_000)]).toEqual([value, true])
    expect([value, delayMs < seconds * 1_100 + 20_000]).toEqual([value, true])
  }
})

function describeRun({
  status,
  response_status,
  error,
}: {
  status: string
  response_status?: number
  error?: { code: string }
}) {
  return `${status} ${error?.code ?? response_status}`
}

/** In MB; undefined if the operating system does not report it. */
function memoryOf(pid: number | undefined, what: 'VmRSS' | 'VmHWM'): number {
  if (process.platform !== 'linux') return 0
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
}
