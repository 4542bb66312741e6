import { randomBytes } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { putSecret } from '@belfry/db/secrets/secrets'
import { insertTasks } from '@belfry/db/tasks/insert-tasks'
import { newUuid } from '@belfry/domain/id'
import { leastCostOf } from '@belfry/test-support/cpu-time'
import { parseMasterKeys } from '@belfry/vault'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aWorkspace, type IntakeTest, setupIntake } from '../intake/setup-intake.ts'
import { type HostileServer, startHostileServers } from './hostile-servers.ts'

const limits = { stallMs: 50, heapBytes: 64e6 }
const callsAtOnce = 4
const kept = 64 * 1024

const ok = (headers = '') => `HTTP/1.1 200 OK\r\n${headers}`
const body = (name: string, unit: string): HostileServer => {
  const text = unit.repeat(Math.ceil(kept / unit.length)).slice(0, kept)
  return { name, head: `${ok(`content-length: ${kept}\r\n`)}\r\n${text}` }
}
const bomb = (encoding: string, bytes: Buffer): HostileServer => ({
  name: `a bomb in ${encoding}`,
  head: `${ok(`content-encoding: ${encoding}\r\ncontent-length: ${bytes.length}\r\n`)}\r\n${bytes.toString('latin1')}`,
})
const nothing = Buffer.alloc(50_000_000)
const manyHeaders = Array.from({ length: 400 }, (_, i) => `x-${i}: ${'\\'.repeat(28)}\r\n`).join('')

const servers: HostileServer[] = [
  ...['\\', '"', "'", '%25', '&#38;', '=3D', '\\u005c', 'aB3/+x_9', 'YUIz', '+'].map(unit =>
    body(`a body of ${unit}`, unit),
  ),
  { name: 'many headers of escapes', head: `${ok(`${manyHeaders}content-length: 0\r\n`)}\r\n` },
  { name: 'headers without an end', head: ok(), unit: `x: ${'x'.repeat(1_000)}\r\n` },
  { name: 'a body without an end', head: `${ok()}\r\n`, unit: 'x'.repeat(kept) },
  {
    name: 'a chunked body of single bytes',
    head: `${ok('transfer-encoding: chunked\r\n')}\r\n`,
    unit: '1\r\nx\r\n'.repeat(1_000),
  },
  { name: 'informational responses without an end', head: '', unit: 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100) },
  { name: 'slow bytes', head: `${ok('content-length: 100000\r\n')}\r\n`, unit: 'x', everyMs: 1 },
  { name: 'slow headers', head: ok(), unit: 'x: y\r\n', everyMs: 1 },
  {
    name: 'a redirect to a long address',
    head: `HTTP/1.1 302 Found\r\nlocation: https://example.com/${'x'.repeat(15_000)}\r\ncontent-length: 0\r\n\r\n`,
  },
  { name: 'garbage', head: '\0'.repeat(kept) },
  { name: 'nothing that reads', head: '', isDeaf: true },
  { name: 'a key exchange with a group of 10,000 bits', head: '', groupBits: 10_000 },
  bomb('gzip', gzipSync(nothing)),
  bomb('br', brotliCompressSync(nothing)),
]

const secrets = {
  TOKEN: 'an-ordinary-token-of-40-characters-000001',
  LONG: 'x"y\\'.repeat(2_047),
  WIDE: '\u00ffa\u00e9"'.repeat(2_047),
}
type Request = { name: string; headers?: object; payload: unknown }
const plain: Request = {
  name: 'a secret in a header',
  headers: { Authorization: 'Bearer {{ secrets.TOKEN }}' },
  payload: 'x'.repeat(250_000),
}
const requests: Request[] = [
  { name: 'two long secrets', payload: { a: '{{ secrets.LONG }}', b: '{{ secrets.WIDE }}' } },
  { name: 'a long secret as often as fits', payload: Array(60).fill('{{ secrets.LONG }}') },
  { name: 'a long secret as often as a payload has room', payload: Array(14_000).fill('{{ secrets.LONG }}') },
  { name: 'escapes', headers: { 'X-A': '{{ secrets.TOKEN }}' }, payload: '\\"\u0001'.repeat(25_000) },
]

const workspaceId = aWorkspace()
const keys = `k1:${randomBytes(32).toString('base64')}`
let test: IntakeTest
let hostile: Awaited<ReturnType<typeof startHostileServers>>
beforeAll(async () => {
  test = await setupIntake('postgres', 0)
  hostile = await startHostileServers(servers)
  await test.store({ count: 0, workspace: workspaceId, url: 'https://example.com/', dueInMs: 0 })
  for (const [name, value] of Object.entries(secrets))
    await putSecret(test.pool, parseMasterKeys(keys), workspaceId, { name, value }, 100)
  await test.start({ ENCRYPTION_KEYS: keys })
}, 120_000)
afterAll(async () => {
  hostile?.stop()
  await test?.close()
})

/** Makes calls at once, and waits for their runs. */
async function call(port: number, isSecure: boolean, { headers = {}, payload }: Request): Promise<void> {
  const url = `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}/`
  const delays = { maxRetries: 0, backoff: 'fixed', baseDelayMs: 1_000, maxDelayMs: 1_000, timeoutMs: 2_000 } as const
  const origin = { source: 'event', topic: 'a.topic', eventId: newUuid(), replayOf: null, executeAt: null } as const
  const request = { url, method: 'POST', headers: JSON.stringify(headers), payload: JSON.stringify(payload) }
  const tasks = Array.from({ length: callsAtOnce }, () => ({
    id: newUuid(),
    workspaceId,
    name: 'A task',
    ...origin,
    ...request,
    ...delays,
  }))
  await insertTasks(test.pool, tasks)
  const text = 'SELECT count(*)::int AS runs FROM runs WHERE task_id = ANY ($1::uuid[])'
  const runs = async () => (await test.pool.query(text, [tasks.map(({ id }) => id)])).rows[0].runs
  await expect.poll(runs, { timeout: 120_000, interval: 250 }).toBe(callsAtOnce)
}

async function expectCheap(port: number, isSecure: boolean, request: Request): Promise<void> {
  const cost = await leastCostOf(async () => () => call(port, isSecure, request), limits)
  console.log(`${Math.round(cost.stallMs)} ms ${Math.round(cost.heapBytes / 1e6)} MB`)
  expect(cost.stallMs).toBeLessThan(limits.stallMs)
  expect(cost.heapBytes).toBeLessThan(limits.heapBytes)
}

it.each(servers.map((server, i) => ({ ...server, i })))(
  'calls of a target with $name do not block the event loop or fill the heap',
  async ({ i, groupBits }) => {
    await expectCheap(hostile.ports[i] ?? 0, groupBits !== undefined, plain)
  },
)

it.each(requests)('requests with $name do not, either', async request => {
  const quick = servers.findIndex(({ name }) => name.startsWith('a redirect'))
  await expectCheap(hostile.ports[quick] ?? 0, false, request)
})
