import { operations } from '@belfry/contract/operations'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { ApiProblem } from './api-problem.ts'
import { askToConfirmWith, call, keyedOperations, read, urlOf } from './call.ts'
import { PayloadText } from './payload-text.ts'

afterEach(() => vi.unstubAllGlobals())

it('fills the path, and leaves out empty parameters', () => {
  expect(urlOf('getMe')).toBe('/api/v1/auth/me')
  expect(urlOf('getHost', { ws: 'ws_1', host: 'example.com:8443' })).toBe('/api/v1/scheduler/hosts/example.com%3A8443')
  const query = { state: ['dead', 'pending'], name: '', from: undefined, limit: 5 }
  expect(urlOf('listTasks', { ws: 'ws_1', query })).toBe('/api/v1/scheduler/tasks?state=dead&state=pending&limit=5')
})

it('sends the workspace in a header where the path does not contain it', async () => {
  const sent: Array<[string, RequestInit]> = []
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    sent.push([url, init])
    return Response.json({})
  })
  await read('getTask', { ws: 'ws_1', task: 'task_1' })
  await call('rollApiKey', { ws: 'ws_1', key: 'key_1', body: { overlap_ms: 0 } })
  const [[, get] = [], [url, post] = []] = sent
  expect(get).toMatchObject({ method: 'GET', headers: { 'X-Workspace-Id': 'ws_1' } })
  expect([url, post?.body]).toEqual(['/api/v1/workspaces/ws_1/api-keys/key_1/roll', '{"overlap_ms":0}'])
  expect(post?.method).toBe('POST')
  expect(post?.headers).not.toHaveProperty('X-Workspace-Id')
})

it('repeats a creation whose answer was lost with its key, and another one with another key, also on a page without TLS', async () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) })
  const sent: unknown[] = []
  let isLost = true
  vi.stubGlobal('fetch', async (_url: string, { headers }: RequestInit) => {
    sent.push(Object(headers)['Idempotency-Key'])
    return isLost ? Promise.reject(new TypeError('offline')) : Response.json({})
  })
  const replay = (task: string) => call('replayTask', { ws: 'ws_1', task, body: {} })
  const publish = () => call('publishEvent', { ws: 'ws_1', body: { topic: 'a', payload: new PayloadText('{}') } })
  const target = { name: 'a', url: 'https://a.example', method: 'POST' } as const
  const createTask = () => call('createTask', { ws: 'ws_1', body: { ...target, execute_at: '2030-01-01T00:00:00Z' } })
  const cronJob = { ...target, cron: '* * * * *', timezone: 'UTC' }
  const createCronJob = () => call('createCronJob', { ws: 'ws_1', body: cronJob })
  for (const act of [() => replay('task_1'), publish, createTask, createCronJob]) {
    isLost = true
    await expect(act()).rejects.toMatchObject({ status: 0 })
    await expect(replay('task_2')).rejects.toMatchObject({ status: 0 })
    isLost = false
    await act()
    await act()
    const [lost, other, repeated, next] = sent.splice(0)
    expect([lost, other, repeated, next]).toEqual(Array(4).fill(expect.stringMatching(/^\d+(-\d+){3}$/)))
    expect(repeated).toBe(lost)
    expect(new Set([lost, other, next]).size).toBe(3)
  }
})

it('gives a creation a new key after a refusal, and five minutes after a lost answer', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const sent: unknown[] = []
  const answers = [400, 0, 503, 503]
  vi.stubGlobal('fetch', async (_url: string, { headers }: RequestInit) => {
    sent.push(Object(headers)['Idempotency-Key'])
    const status = answers[sent.length - 1] ?? 201
    return status === 0 ? Promise.reject(new TypeError('offline')) : Response.json({}, { status })
  })
  const replay = () => call('replayTask', { ws: 'ws_1', task: 'task_3', body: {} }).catch(() => {})
  for (const waitedMs of [0, 0, 299_000, 2_000, 0]) {
    vi.advanceTimersByTime(waitedMs)
    await replay()
  }
  expect(sent.map(key => sent.indexOf(key))).toEqual([0, 1, 1, 3, 3])
})

it('has keys only for operations that are idempotent', () => {
  for (const name of keyedOperations) expect(operations[name]).toMatchObject({ isIdempotent: true })
})

it('rejects with the problem of the response, or with status 0 without one', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ code: 'not_found', detail: 'No task.' }, { status: 404 }))
  await expect(read('getMe')).rejects.toMatchObject({ status: 404, code: 'not_found', message: 'No task.' })
  vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('offline')))
  await expect(read('getMe')).rejects.toEqual(expect.objectContaining({ status: 0 }))
  await expect(read('getMe')).rejects.toBeInstanceOf(ApiProblem)
})

it('asks once for all calls that are refused at once, and repeats each of them', async () => {
  let isConfirmed = false
  vi.stubGlobal('fetch', async () => {
    const body = isConfirmed ? {} : { code: 'step_up_required', factors: ['password'] }
    return { ok: isConfirmed, status: isConfirmed ? 200 : 403, text: async () => JSON.stringify(body) }
  })
  const questions: Array<(isConfirmed: boolean) => void> = []
  askToConfirmWith(() => new Promise(resolve => questions.push(resolve)))
  for (const answer of [false, true]) {
    const both = Promise.allSettled([read('getMe'), read('listSessions')])
    await new Promise(setImmediate) // both are refused
    isConfirmed = answer
    const [ask, ...others] = questions.splice(0)
    expect(others).toEqual([])
    ask?.(answer)
    const status = answer ? 'fulfilled' : 'rejected'
    expect(await both).toMatchObject([{ status }, { status }])
  }
})
