import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEmptyDatabase, type Receiver, startReceiver, type TestDatabase } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { useBelfry } from '../belfry.ts'
import { type RunningCli, startCli, startCommand } from './run-cli.ts'

const belfry = useBelfry('postgres')
let target: Receiver
let database: TestDatabase
let client: pg.Client
let apiKey: string
const relays: RunningCli[] = []
let label: string

beforeAll(async () => {
  target = await startReceiver()
  database = await createEmptyDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const { code, error } = await startCommand(belfry, ['outbox', 'install', '--to', database.url]).ended
  expect([code, error]).toEqual([0, ''])
  const { workspaceId, token = '' } = belfry.caller
  const key = { name: 'Relay', scopes: ['publish'] }
  const { body } = await belfry.call('POST', `/api/v1/workspaces/${workspaceId}/api-keys`, key, { token })
  apiKey = body.key
})
afterAll(async () => {
  await client?.end()
  await database?.drop()
  await target?.close()
})
let tests = 0
beforeEach(() => {
  label = `outbox:${++tests}`
})
afterEach(async () => {
  await Promise.all(relays.splice(0).map(relay => relay.interrupt()))
  await client.query('DELETE FROM belfry.outbox')
})

// In the process of the test.
function startRelay(url = belfry.url): RunningCli {
  const relay = startCommand({ url, caller: { apiKey } }, ['relay', '--from', database.url])
  relays.push(relay)
  return relay
}

const callAt = (path: string, at = 'now', more: object = {}) =>
  client.query('SELECT belfry.call_at($1, $2, $3, $4) AS id', [
    target.url(path),
    at === 'now' ? new Date() : at,
    '{"order":42}',
    JSON.stringify({ labels: [label], ...more }),
  ])
const rowsLeft = async () => (await client.query('SELECT * FROM belfry.outbox ORDER BY position')).rows
const isEmpty = () => waitFor(rowsLeft, rows => rows.length === 0, 30_000)
const tasks = async () => (await belfry.call('GET', `/api/v1/scheduler/tasks?limit=100&label=${label}`)).body.data
const countTasks = async () => (await belfry.call('GET', `/api/v1/scheduler/tasks/count?label=${label}`)).body.count

/** Forwards to Belfry, and records the keys. `afterAnswer` runs before the relay gets an answer of Belfry. */
async function startProxy(afterAnswer: () => unknown = () => {}) {
  const keys: string[] = []
  let isDown = false
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    keys.push(String(request.headers['idempotency-key']))
    if (isDown) return response.writeHead(503).end()
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    const body = Buffer.concat(pieces)
    const answer = await fetch(`${belfry.url}${request.url}`, { method: 'POST', headers: headers as HeadersInit, body })
    const text = await answer.text()
    await afterAnswer()
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    setDown(value: boolean) {
      isDown = value
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

it('sends what a transaction has committed, at its time, and nothing of a transaction that is rolled back', async () => {
  const relay = startRelay()
  await relay.prints(/Relaying to/)
  await client.query('BEGIN')
  await callAt('/rolled-back')
  await client.query('ROLLBACK')
  await client.query('BEGIN')
  await callAt('/committed', 'now', { headers: { 'X-Own': 'yes' } })
  await callAt('/later', '2098-12-31T23:00:00Z', { key: label, on_conflict: 'replace' })
  await client.query('SELECT belfry.publish($1, $2, $3)', [
    'orders.paid',
    '{"order":43}',
    JSON.stringify({ target_url: target.url('/event'), labels: [label] }),
  ])
  await client.query('COMMIT')
  await target.waitFor(
    () => target.requestsTo('/committed').length === 1 && target.requestsTo('/event').length === 1,
    20_000,
  )
  const [request] = target.requestsTo('/committed')
  expect([request?.method, request?.body.toString()]).toEqual(['POST', '{"order": 42}'])
  expect(request?.rawHeaders).toContain('X-Own')
  await isEmpty()
  expect((await tasks()).map(({ url, execute_at }: Record<string, string>) => [url, execute_at])).toContainEqual([
    target.url('/later'),
    '2098-12-31T23:00:00.000Z',
  ])
  expect(await countTasks()).toBe(3)
  expect(target.requestsTo('/rolled-back')).toEqual([])
  expect((await relay.interrupt()).code).toBe(0)
})

it('keeps refused rows with the reason, sends the others, and sends a corrected row', async () => {
  await client.query('BEGIN')
  await callAt('/good')
  await callAt('/bad', '2099-01-01T00:00:00Z', { timeout_ms: 1 })
  await client.query(`SELECT belfry.publish('not a topic')`)
  await client.query('COMMIT')
  const relay = startRelay()
  const rejected = await waitFor(
    rowsLeft,
    rows => rows.length === 2 && rows.every(row => row.rejected_at !== null),
    30_000,
  )
  expect(rejected.map(({ error }) => error)).toEqual([
    expect.stringContaining('timeout_ms'),
    expect.stringContaining('topic'),
  ])
  await relay.prints(new RegExp(`${rejected[0].id} was rejected: .*timeout_ms`))
  expect(await countTasks()).toBe(1)
  await client.query(`DELETE FROM belfry.outbox WHERE kind = 'event'`)
  await client.query(`UPDATE belfry.outbox SET rejected_at = NULL, body = body - 'timeout_ms'`)
  await isEmpty()
  expect(await countTasks()).toBe(2)
})

it('waits while Belfry is away, and then repeats each request with its key', async () => {
  await using proxy = await startProxy()
  proxy.setDown(true)
  const relay = startRelay(proxy.url)
  for (let n = 0; n < 2; n++) await callAt('/waiting')
  await relay.prints(/503/)
  const [row] = await waitFor(rowsLeft, rows => rows.every(({ error }) => error !== null))
  expect(row.error).toContain('503')
  const before = new Set(proxy.keys)
  proxy.setDown(false)
  await isEmpty()
  expect(new Set(proxy.keys)).toEqual(before)
  expect(await countTasks()).toBe(2)
})

it('continues when the database has ended its connections', async () => {
  const relay = startRelay()
  await relay.prints(/Relaying to/)
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'belfry relay' AND datname = current_database()`,
  )
  await callAt('/after')
  await isEmpty()
  expect(await countTasks()).toBe(1)
})

it('removes no row for the response of another server', async () => {
  const other = createServer((_request, response) => response.end('{"ok":true}'))
  await once(other.listen(0, '127.0.0.1'), 'listening')
  await client.query('BEGIN')
  for (const path of ['/a', '/b']) await callAt(path)
  await client.query(`SELECT belfry.publish('a')`)
  await client.query('COMMIT')
  const relay = startRelay(`http://127.0.0.1:${(other.address() as AddressInfo).port}`)
  await relay.prints(/not from Belfry/)
  const rows = await waitFor(rowsLeft, all => all.every(({ error }) => error !== null))
  expect(rows).toHaveLength(3)
  other.close()
})

it('makes no task twice when it is killed between the answer and the removal', async () => {
  let isAnswered = false
  await using stuck = await startProxy(() => {
    isAnswered = true
    return new Promise(() => {})
  })
  await client.query('BEGIN')
  for (let n = 0; n < 20; n++) await callAt('/once', '2099-01-01T00:00:00Z')
  await client.query('COMMIT')
  const killed = startCli({ url: stuck.url, caller: { apiKey } }, ['relay', '--from', database.url])
  await waitFor(
    async () => isAnswered,
    is => is,
  )
  await killed.kill()
  expect(await countTasks()).toBe(20)
  expect(await rowsLeft()).toHaveLength(20)
  // A row that comes later is not in the repeated request.
  await callAt('/once', '2099-01-01T00:00:00Z')
  await client.query(`UPDATE belfry.outbox SET due_at = now() - interval '1 ms' WHERE due_at IS NOT NULL`) // instead of waiting for half a minute
  await using proxy = await startProxy()
  startRelay(proxy.url)
  await isEmpty()
  expect(proxy.keys).toContain(stuck.keys[0])
  expect(await countTasks()).toBe(21)
})

it('shares the rows with other relays', async () => {
  startRelay()
  startRelay()
  await client.query(`SELECT belfry.call_at($1, '2099-01-01', options => $2) FROM generate_series(1, 2000)`, [
    target.url('/shared'),
    JSON.stringify({ labels: [label] }),
  ])
  await isEmpty()
  expect(await countTasks()).toBe(2_000)
})

it('prints the statements of the outbox, and says how to install it', async () => {
  const { code, out } = await startCommand(belfry, ['outbox', 'install', '--print']).ended
  expect([code, out]).toEqual([0, expect.stringContaining('CREATE SCHEMA IF NOT EXISTS belfry')])
  const without = await createEmptyDatabase()
  const { code: refused, error } = await startCommand(belfry, ['relay', '--from', without.url]).ended
  expect([refused, error]).toEqual([2, expect.stringContaining('belfry outbox install')])
  for (const args of [
    ['relay', '--from'],
    ['outbox', 'install', '--to'],
  ]) {
    const { code: failed, error: reason } = await startCommand(belfry, [...args, 'postgresql://localhost:1/shop']).ended
    expect([failed, reason]).toEqual([1, expect.stringMatching(/^The outbox is unavailable: .*ECONNREFUSED.*\n$/)])
  }
  const { code: unnamed, error: usage } = await startCommand(belfry, ['relay']).ended
  expect([unnamed, usage]).toEqual([2, expect.stringContaining('postgresql://')])
  await without.drop()
})
