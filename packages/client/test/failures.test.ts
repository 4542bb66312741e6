import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  ApiError,
  Belfry,
  type BelfryOptions,
  ConflictError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  TimeoutError,
  ValidationError,
} from '../src/index.ts'
import { problem, useServer } from './scripted-server.ts'

const server = useServer()
const client = (more: Partial<BelfryOptions> = {}) => new Belfry({ apiKey: 'bf_key', baseUrl: server.url, ...more })
const failure = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )
const aTask = { name: 'A', targetUrl: 'https://example.com', method: 'post', executeAt: new Date() } as const

describe('reports an error', () => {
  it('with the class, the code, every field and the request id', async () => {
    const errors = [
      { path: 'execute_at', code: 'execute_at_not_future', message: 'execute_at must lie in the future.' },
    ]
    server.answers(problem(400, 'validation_failed', { errors }))
    const error = await failure(client().tasks.create(aTask))
    expect(error).toBeInstanceOf(ValidationError)
    const message = 'executeAt must lie in the future.'
    expect(error).toMatchObject({ status: 400, code: 'validation_failed', requestId: 'req-1' })
    expect(error).toMatchObject({ errors: [{ path: 'executeAt', code: 'execute_at_not_future', message }] })
    expect(String(error)).toContain(message)
  })

  it('with the names of this library, and with the request that failed', async () => {
    const at = (path: string) => ({ path, code: 'required', message: `${path} is required.` })
    const paths = ['tasks[3].url', 'retry.base_delay_ms', 'target_url', 'headers.x_own', 'payload.some_name', 'name']
    server.answers(problem(400, 'validation_failed', { errors: paths.map(at) }))
    const error = await failure(Promise.resolve(client().tasks.list({ limit: 0 })))
    const own = ['tasks[3].targetUrl', 'retry.baseDelayMs', 'targetUrl', 'headers.x_own', 'payload.some_name', 'name']
    expect(error).toMatchObject({ errors: own.map(at) })
    expect(String(error)).toContain(`(GET ${server.url}/api/v1/scheduler/tasks)`)
  })

  it('when another server returns JSON that is no page', async () => {
    server.answers({ body: '{"hello":"world"}' })
    const error = await failure(Promise.resolve(client().tasks.list()))
    expect(String(error)).toMatch(/not a page of Belfry.*baseUrl/)
  })

  it.each([
    [404, 'not_found', NotFoundError],
    [409, 'task_not_pending', ConflictError],
  ] as const)('%i %s', async (status, code, kind) => {
    server.answers(problem(status, code, { current_state: 'success' }))
    const error = await failure(client().tasks.cancel('task_1'))
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject({ body: { current_state: 'success' } })
  })

  it('when a proxy responds with a page, an empty body or half a response', async () => {
    const page = { status: 502, body: '<html>Bad gateway</html>', headers: { 'content-type': 'text/html' } }
    server.answers(page)
    const error = await failure(client({ maxRetries: 0 }).runs.get('run_1'))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 502, code: 'http_502', body: '<html>Bad gateway</html>' })
    server.answers({ status: 418, body: '' })
    expect(await failure(client().runs.get('run_1'))).toMatchObject({ status: 418, code: 'http_418' })
  })

  it('when a page arrives instead of JSON, without a retry', async () => {
    server.answers({ body: '<html>Please sign in</html>', headers: { 'content-type': 'text/html' } })
    const error = await failure(client().tasks.create(aTask))
    expect(error).toMatchObject({ status: 200, code: 'invalid_answer', body: '<html>Please sign in</html>' })
    expect(server.received).toHaveLength(1)
    server.answers({ body: '' })
    expect(await failure(client().tasks.create(aTask))).toMatchObject({ status: 200, code: 'invalid_answer' })
  })

  it('when there is a redirect, which is not followed, because it could leak the key', async () => {
    server.answers({ status: 308, headers: { location: `${server.url}/elsewhere` }, body: '' })
    expect(await failure(client().runs.get('run_1'))).toMatchObject({ status: 308, code: 'redirected' })
    expect(server.received).toHaveLength(1)
  })

  it('when no server responds', async () => {
    const unreachable = new Belfry({ apiKey: 'k', baseUrl: 'http://127.0.0.1:1', maxRetries: 0 })
    const error = await failure(unreachable.runs.get('run_1'))
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error).toHaveProperty('cause')
  })

  it.each(['hang', 'drip'] as const)('when the response takes too long (%s)', async instead => {
    server.answers({ instead })
    expect(await failure(client({ timeoutMs: 50, maxRetries: 0 }).runs.get('run_1'))).toBeInstanceOf(TimeoutError)
  })
})

describe('repeats', () => {
  const tries = () => server.received.length

  it('a create after a lost response, with the same key', async () => {
    server.answers({ instead: 'hang up' }, { status: 503, headers: { 'retry-after': '0' } })
    await client().tasks.create(aTask)
    expect(tries()).toBe(3)
    expect(new Set(server.received.map(call => call.headers['idempotency-key'])).size).toBe(1)
  })

  it('with the key of the caller', async () => {
    server.answers({ status: 500 })
    await client().events.publish({ topic: 'a', payload: {} }, { idempotencyKey: 'order-7' })
    expect(server.received.map(call => call.headers['idempotency-key'])).toEqual(['order-7', 'order-7'])
  })

  it('no request that may have succeeded, but temporary refusals', async () => {
    server.answers({ instead: 'hang up' })
    expect(await failure(client().tasks.cancel('task_1'))).toBeInstanceOf(ConnectionError)
    expect(tries()).toBe(1)
    server.answers(problem(429, 'rate_limited'))
    await client().tasks.cancel('task_1')
    expect(tries()).toBe(3)
    server.answers(problem(503, 'unavailable'))
    expect(await failure(client().cronJobs.trigger('cron_1'))).toMatchObject({ status: 503 })
    expect(tries()).toBe(4)
  })

  it('up to the given maximum, and never with 0', async () => {
    server.answers(...Array(5).fill({ ...problem(429, 'rate_limited') }))
    expect(await failure(client({ maxRetries: 1 }).runs.get('run_1'))).toBeInstanceOf(RateLimitError)
    expect(tries()).toBe(2)
    expect(await failure(client({ maxRetries: 0 }).runs.get('run_1'))).toBeInstanceOf(RateLimitError)
    expect(tries()).toBe(3)
    expect(await failure(client().runs.get('run_1', { maxRetries: 0 }))).toBeInstanceOf(RateLimitError)
    expect(tries()).toBe(4)
  })

  it('not after more than a minute', async () => {
    server.answers({ ...problem(429, 'rate_limited'), headers: { 'retry-after': '60.5' } })
    expect(await failure(client().runs.get('run_1'))).toBeInstanceOf(RateLimitError)
    expect(tries()).toBe(1)
  })

  it('and calls its hooks, without a key', async () => {
    const events: string[] = []
    const on: BelfryOptions['on'] = {
      request: event => events.push(`request ${event.attempt}`),
      response: event => events.push(`response ${event.status}`),
      retry: event => events.push(`retry ${event.reason}`),
    }
    server.answers(problem(503, 'unavailable'))
    await client({ on }).runs.get('run_1')
    expect(events).toEqual([
      'request 1',
      'response 503',
      `retry 503 unavailable: It is unavailable. (GET ${server.url}/api/v1/scheduler/runs/run_1)`,
      'request 2',
      'response 200',
    ])
  })
})

it('reports an error of a hook, without a retry', async () => {
  const response = () => {
    throw new Error('The log is full.')
  }
  const error = await failure(client({ on: { response } }).tasks.create(aTask))
  expect(error).toMatchObject({ name: 'BelfryError', cause: { message: 'The log is full.' } })
  expect(server.received).toHaveLength(1)
})

it('has no time limit with Infinity', async () => {
  expect(await client({ timeoutMs: Number.POSITIVE_INFINITY }).runs.get('run_1')).toEqual({})
})

describe('stops', () => {
  it('while it reads a slow response', async () => {
    const during = new AbortController()
    server.answers({ instead: 'drip' })
    const on: BelfryOptions['on'] = { response: () => setTimeout(() => during.abort(new Error('too slow')), 10) }
    const error = await failure(client({ on }).runs.get('run_1', { signal: during.signal }))
    expect(error).toMatchObject({ message: 'too slow' })
    expect(server.received).toHaveLength(1)
  })

  it('an open export, which has no time limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const during = new AbortController()
    server.answers({ instead: 'stay open', body: 'id\n' })
    const file = await client({ timeoutMs: 300 }).runs.export({}, { signal: during.signal })
    const reader = file.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('id\n')
    await vi.advanceTimersByTimeAsync(400)
    const next = reader.read()
    during.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
  })

  it('at once when its signal is aborted, even before it starts and during a wait', async () => {
    const gone = AbortSignal.abort(new Error('changed my mind'))
    expect(await failure(client().runs.get('run_1', { signal: gone }))).toMatchObject({ message: 'changed my mind' })
    expect(server.received).toEqual([])
    const during = new AbortController()
    server.answers({ ...problem(429, 'rate_limited'), headers: { 'retry-after': '30' } })
    const on: BelfryOptions['on'] = { retry: () => during.abort(new Error('enough')) }
    expect(await failure(client({ on }).runs.get('run_1', { signal: during.signal }))).toMatchObject({
      message: 'enough',
    })
  })
})
