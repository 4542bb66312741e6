import { afterEach, expect, it, vi } from 'vitest'
import { Belfry } from '../src/index.ts'
import { useServer } from './scripted-server.ts'

const server = useServer()
const client = (more = {}) => new Belfry({ apiKey: 'bf_key', baseUrl: `${server.url}/`, ...more })
afterEach(() => vi.unstubAllEnvs())

const sent = () => {
  const [call] = server.received
  if (!call) throw new Error('Nothing was sent.')
  return call
}

it('creates a task from the example of the documentation', async () => {
  await client().tasks.create({
    targetUrl: 'https://example.com/hook',
    executeAt: '2026-12-01T09:00:00Z',
    method: 'post',
    payload: '{"orderId":12345678901234567890}',
    name: 'Send reminder',
  })
  const { method, path, headers, body } = sent()
  expect([method, path]).toEqual(['POST', '/api/v1/scheduler/tasks'])
  expect(headers).toMatchObject({
    'x-api-key': 'bf_key',
    'content-type': 'application/json',
    accept: 'application/json',
  })
  expect(headers['user-agent']).toMatch(/^belfry-client\/\d/)
  expect(headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/)
  expect(body).toBe(
    '{"execute_at":"2026-12-01T09:00:00Z","name":"Send reminder","url":"https://example.com/hook","method":"POST","payload":{"orderId":12345678901234567890}}',
  )
})

it('accepts a URL, also in a callback', async () => {
  const url = new URL('https://example.com/hook?a=b')
  await client().tasks.create({ targetUrl: url, executeAt: '2026-12-01T09:00:00Z', onSuccess: { url } })
  expect(JSON.parse(sent().body)).toMatchObject({
    ...{ name: 'POST example.com/hook', url: url.href, on_success: { url: url.href } },
  })
})

it('accepts a Date, an upper-case method and a plain value, and keeps names inside payload and headers', async () => {
  await client().tasks.create({
    name: 'A',
    targetUrl: 'https://example.com',
    method: 'PUT',
    executeAt: new Date('2026-12-01T09:00:00Z'),
    payload: { orderId: 1, nested: { camelCase: true } },
    headers: { 'X-camelCase': 'a' },
    retry: { maxRetries: 3 },
    timeoutMs: 5_000,
  })
  expect(JSON.parse(sent().body)).toEqual({
    name: 'A',
    url: 'https://example.com',
    method: 'PUT',
    execute_at: '2026-12-01T09:00:00.000Z',
    payload: { orderId: 1, nested: { camelCase: true } },
    headers: { 'X-camelCase': 'a' },
    retry: { max_retries: 3 },
    timeout_ms: 5_000,
  })
})

it('creates many tasks, each payload unchanged', async () => {
  server.answers({ body: '{"data":[{"index":0,"task":{"id":"task_1"}}]}' })
  const task = {
    name: 'A',
    targetUrl: 'https://example.com',
    method: 'post',
    executeAt: '2026-12-01T09:00:00Z',
  } as const
  const results = await client().tasks.createMany([{ ...task, payload: '{"n":1.10}' }, task])
  expect(results).toEqual([{ index: 0, task: { id: 'task_1' } }])
  const rest = '"execute_at":"2026-12-01T09:00:00Z","url":"https://example.com","method":"POST"'
  expect(sent().body).toBe(`{"tasks":[{"name":"A",${rest},"payload":{"n":1.10}},{"name":"A",${rest}}]}`)
})

it('sends bytes as a raw body, and callbacks with the names of the HTTP API', async () => {
  server.answers({ body: '{"id":"task_1"}' })
  const bytes = Uint8Array.from({ length: 20_000 }, (_, i) => i % 256)
  await client().tasks.create({
    ...{ name: 'A', targetUrl: 'https://example.com', executeAt: '2026-12-01T09:00:00Z' },
    ...{ payload: bytes, contentType: 'image/png' },
    onSuccess: { url: 'https://example.com/done', headers: { xY: '1' }, retry: { maxRetries: 1 }, timeoutMs: 1000 },
  })
  expect(JSON.parse(sent().body)).toMatchObject({
    payload_base64: Buffer.from(bytes).toString('base64'),
    content_type: 'image/png',
    on_success: { url: 'https://example.com/done', headers: { xY: '1' }, retry: { max_retries: 1 }, timeout_ms: 1000 },
  })
  expect(sent().body).not.toContain('"payload":')
})

it('refuses a payload that is text but not JSON, before any request', () => {
  const task = { name: 'A', targetUrl: 'https://example.com', method: 'post', executeAt: new Date() } as const
  expect(() => client().tasks.create({ ...task, payload: 'hello' })).toThrow(/JSON.stringify/)
  expect(server.received).toEqual([])
})

it('returns camelCase, except inside user data', async () => {
  server.answers({
    body: '{"id":"task_1","next_retry_at":null,"last_run":{"response_status":500},"payload":{"a_b":1},"headers":{"x_y":"z"}}',
  })
  expect(await client().tasks.get('task_1')).toEqual({
    id: 'task_1',
    nextRetryAt: null,
    lastRun: { responseStatus: 500 },
    payload: { a_b: 1 },
    headers: { x_y: 'z' },
  })
})

it('iterates over a list page by page, and sends no request after the reader stops', async () => {
  server.answers(
    { body: '{"data":[{"id":1},{"id":2}],"next_cursor":"c1"}' },
    { body: '{"data":[{"id":3}],"next_cursor":null}' },
  )
  const ids: unknown[] = []
  for await (const { id } of client().tasks.list({ state: ['dead', 'cancelled'], from: new Date(0), limit: 2 }))
    ids.push(id)
  expect(ids).toEqual([1, 2, 3])
  expect(server.received.map(call => call.path)).toEqual([
    '/api/v1/scheduler/tasks?state=dead&state=cancelled&from=1970-01-01T00%3A00%3A00.000Z&limit=2',
    '/api/v1/scheduler/tasks?state=dead&state=cancelled&from=1970-01-01T00%3A00%3A00.000Z&limit=2&cursor=c1',
  ])
  server.answers({ body: '{"data":[{"id":1}],"next_cursor":"c1"}' })
  for await (const _ of client().runs.list()) break
  expect(server.received).toHaveLength(3)
})

it('returns one page when a list is awaited', async () => {
  server.answers({ body: '{"data":[{"id":1}],"next_cursor":"c1"}' })
  expect(await client().cronJobs.list({ status: 'active' })).toEqual({ data: [{ id: 1 }], nextCursor: 'c1' })
})

it('handles the failure of a list like that of a promise', async () => {
  const failed = client({ maxRetries: 0 }).runs.list()
  server.answers({ status: 500 })
  expect(await failed.catch(error => error.status)).toBe(500)
  await expect(failed).rejects.toMatchObject({ status: 500 })
  server.answers({ body: '{"data":[],"next_cursor":null,"from_storage":true}' })
  let isDone = false
  const page = await client()
    .runs.list()
    .finally(() => {
      isDone = true
    })
  expect([page.fromStorage, isDone]).toEqual([true, true])
})

it('deletes, and returns nothing', async () => {
  server.answers({ status: 204 })
  expect(await client().cronJobs.delete('cron_1')).toBeUndefined()
})

it('publishes an event', async () => {
  await client().events.publish({ topic: 'invoice.paid', payload: '{"n":1.10}', targetUrl: 'https://example.com' })
  expect(sent().path).toBe('/api/events')
  expect(sent().body).toBe('{"topic":"invoice.paid","target_url":"https://example.com","payload":{"n":1.10}}')
})

it.each([
  ['', 'an empty id, which would list'],
  ['..', 'an id that leads elsewhere'],
  [undefined as unknown as string, 'none'],
])('refuses an invalid id (%j: %s)', async id => {
  const belfry = client()
  await expect(async () => belfry.tasks.get(id)).rejects.toThrow(/An id must be text/)
  expect(server.received).toEqual([])
})

it('sends any request, whose body is a value, or JSON text that stays unchanged', async () => {
  await client().request('POST', '/api/v1/scheduler/tasks/batch', { body: '{"tasks": [{"n":1.10}]}' })
  await client().request('POST', '/api/v1/scheduler/tasks/batch', { body: { tasks: [] } })
  expect(server.received.map(({ body }) => body)).toEqual(['{"tasks": [{"n":1.10}]}', '{"tasks":[]}'])
})

it('encodes the parts of a path', async () => {
  await client().tasks.get('../runs/x?y#z')
  expect(sent().path).toBe('/api/v1/scheduler/tasks/..%2Fruns%2Fx%3Fy%23z')
})

it('settles dead letters by their ids or by a filter, and follows the operation in the background', async () => {
  const operation = (status: string, settled: number) => ({
    body: JSON.stringify({ id: 'op_1', status, settled, total: 2500, finished_at: null }),
  })
  server.answers(
    { status: 202, body: '{"replayed":0,"operation":{"id":"op_1","status":"running"}}' },
    operation('running', 0),
    operation('running', 0),
    operation('running', 1500),
    operation('done', 2500),
  )
  const belfry = client()
  const filter = { cronjobId: 'cron_1', to: new Date(0) }
  const { operation: begun } = await belfry.deadLetters.replay({ filter, perSecond: 10 })
  expect(sent().body).toBe('{"filter":{"cronjob_id":"cron_1","to":"1970-01-01T00:00:00.000Z"},"per_second":10}')
  const seen: number[] = []
  for await (const { settled } of belfry.deadLetters.progress(begun?.id ?? '', { intervalMs: 1 })) seen.push(settled)
  expect(seen).toEqual([0, 1500, 2500])
  expect(server.received).toHaveLength(5)
})

it('exports as a stream', async () => {
  server.answers({ headers: { 'content-type': 'text/csv' }, body: 'id,name\r\n' })
  const file = await client().tasks.export({ state: 'dead', format: 'csv' })
  expect(await new Response(file).text()).toBe('id,name\r\n')
  expect(sent().path).toBe('/api/v1/scheduler/tasks/export?state=dead&format=csv')
})

it('signs in with a session, for a workspace', async () => {
  const user = new Belfry({ sessionToken: 'jwt', workspaceId: 'ws_1', baseUrl: server.url })
  await user.organizations.create({ name: 'Acme' })
  expect(sent().headers).toMatchObject({ authorization: 'Bearer jwt', 'x-workspace-id': 'ws_1' })
})

it('reads its key and its URL from the environment', async () => {
  vi.stubEnv('BELFRY_API_KEY', 'bf_of_environment')
  vi.stubEnv('BELFRY_URL', server.url)
  await new Belfry().tasks.get('task_1')
  await new Belfry({ apiKey: 'bf_key', baseUrl: `${server.url}/other` }).tasks.get('task_1')
  await new Belfry({ sessionToken: 'jwt' }).tasks.get('task_1')
  expect(server.received.map(({ headers, path }) => [headers['x-api-key'], headers.authorization, path])).toEqual([
    ['bf_of_environment', undefined, '/api/v1/scheduler/tasks/task_1'],
    ['bf_key', undefined, '/other/api/v1/scheduler/tasks/task_1'],
    [undefined, 'Bearer jwt', '/api/v1/scheduler/tasks/task_1'],
  ])
})

it.each([undefined, {}, { apiKey: '' }])('needs a key: %j', options => {
  vi.stubEnv('BELFRY_API_KEY', '')
  expect(() => new Belfry(options)).toThrow(/Set BELFRY_API_KEY, or pass apiKey/)
})

it('sends POST, and names a task or cron job after its request, unless told otherwise', async () => {
  const targetUrl = 'https://example.com/hooks/reminder?user=42#a'
  await client().tasks.create({ targetUrl, executeAt: '2027-01-01T09:00:00Z' })
  await client().cronJobs.create({ targetUrl, cron: '* * * * *', method: 'put' })
  await client().tasks.createMany([{ targetUrl: `https://example.com/${'x'.repeat(500)}`, delay: 1000 }])
  await client().tasks.update('task_1', { targetUrl })
  const [task, job, many, change] = server.received.map(({ body }) => JSON.parse(body))
  expect(task).toMatchObject({ name: 'POST example.com/hooks/reminder', method: 'POST' })
  expect(job).toMatchObject({ name: 'PUT example.com/hooks/reminder', method: 'PUT' })
  expect(many.tasks[0].name).toHaveLength(200)
  expect(change).toEqual({ url: targetUrl })
})

it('computes the time of a delay', async () => {
  const task = { targetUrl: 'https://example.com' }
  const before = Date.now()
  for (const delay of ['3h', '1h30m', 90_000]) await client().tasks.create({ ...task, delay })
  await client().tasks.update('task_1', { delay: '2d' })
  const hours = server.received.map(({ body }) => (Date.parse(JSON.parse(body).execute_at) - before) / 3_600_000)
  expect(hours.map(value => Number(value.toFixed(3)))).toEqual([3, 1.5, 0.025, 48])
  expect(JSON.parse(sent().body)).not.toHaveProperty('delay')
})

it('refuses a delay that is none, both times, and an invalid Date, before any request', async () => {
  const targetUrl = 'https://example.com'
  const { tasks, cronJobs, deadLetters } = client()
  expect(() => tasks.create({ targetUrl, delay: '3 hours' })).toThrow(/not a duration such as/)
  const both = { targetUrl, delay: '3h', executeAt: new Date() } as never
  expect(() => tasks.create(both)).toThrow(/either executeAt or delay/)
  const never = new Date('never')
  expect(() => tasks.create({ targetUrl, executeAt: never })).toThrow(/^executeAt is an invalid Date/)
  expect(() => tasks.create({ targetUrl, delay: '3h', expiresAt: never })).toThrow(/^expiresAt is an invalid Date/)
  expect(() => cronJobs.update('cron_1', { endsAt: never })).toThrow(/^endsAt is an invalid Date/)
  expect(() => deadLetters.replay({ filter: { to: never } })).toThrow(/^to is an invalid Date/)
  await expect(async () => tasks.list({ from: never })).rejects.toThrow(/^from is an invalid Date/)
  expect(server.received).toEqual([])
})
