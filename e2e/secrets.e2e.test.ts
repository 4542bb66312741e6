import { randomBytes } from 'node:crypto'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { useBelfry } from './belfry.ts'
import { spawnService } from './processes.ts'

const tasks = '/api/v1/scheduler/tasks'
const runs = '/api/v1/scheduler/runs'
const aMasterKey = () => `k1:${randomBytes(32).toString('base64')}`

const unusable = [
  ['is a private address', 'ADDRESS_2', '10.0.0.1', { url: 'http://{{ secrets.ADDRESS_2 }}/x' }, 'blocked_address'],
  ['is a private URL', 'URL_1', 'http://169.254.169.254/latest', { url: '{{ secrets.URL_1 }}/x' }, 'blocked_address'],
  [
    'has a password in its URL',
    'URL_2',
    'http://user:pass@127.0.0.1',
    { url: '{{ secrets.URL_2 }}' },
    'secret_invalid',
  ],
  ['makes no URL', 'HOST', 'no host at all', { url: 'http://{{ secrets.HOST }}/x' }, 'secret_invalid'],
  ['splits a header', 'SPLIT', 'a\r\nX-Injected: b', { headers: { X: '{{ secrets.SPLIT }}' } }, 'secret_invalid'],
  ['cannot be in a header', 'WIDE', '日本の秘密', { headers: { X: '{{ secrets.WIDE }}' } }, 'secret_invalid'],
  ['is too long for a header', 'LONG', 'x'.repeat(8192), { headers: { X: '{{ secrets.LONG }}' } }, 'secret_invalid'],
] as const

describe('a secret', () => {
  const belfry = useBelfry('postgres')
  let target: Receiver
  beforeAll(async () => {
    target = await startReceiver()
    await put('TOKEN', token)
    await put('ADDRESS', `127.0.0.1:${target.port}`)
    for (const [, name, value] of unusable) await put(name, value)
  })
  afterAll(() => target?.close())

  const token = 'p/ss+w?rd "quoted" \\ 100% é'
  const put = async (name: string, value: string) => {
    const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/secrets/${name}`
    expect((await belfry.call('PUT', path, { value })).status).toBeLessThan(300)
  }
  /** Runs a task until it is finished, and returns it with its last run in full. */
  const runTask = async (request: Record<string, unknown>) => {
    const body = { name: 'secret', method: 'POST', execute_at: inMs(1500), retry: { max_retries: 0 }, ...request }
    const created = await belfry.call('POST', tasks, body)
    expect(created.status).toBe(201)
    const { body: task } = await waitFor(
      () => belfry.call('GET', `${tasks}/${created.body.id}`),
      ({ body }) => body.state === 'success' || body.state === 'dead',
    )
    const { body: run, text } = await belfry.call('GET', `${runs}/${task.last_run.id}`)
    return { task, run, text }
  }
  const headerOf = (path: string, name: string) => {
    const { rawHeaders = [] } = target.requestsTo(path)[0] ?? {}
    return rawHeaders[rawHeaders.indexOf(name) + 1]
  }

  it.concurrent('is sent in the url, headers and payload, and is hidden afterwards', async () => {
    const request = {
      url: 'http://{{ secrets.ADDRESS }}/all?token={{ secrets.TOKEN }}&x=1',
      headers: { Authorization: 'Bearer {{secrets.TOKEN}}' },
      payload: { '{{ secrets.KEY }}': 1, list: [1.1, 'a {{ secrets.TOKEN }} b'] },
    }
    const { run, text } = await runTask(request)
    const [received] = target.requestsTo('/all')
    expect(received?.target).toBe(`/all?token=${encodeURIComponent(token)}&x=1`)
    expect(headerOf('/all', 'Authorization')).toBe(`Bearer ${token}`)
    expect(received?.body.toString()).toBe(JSON.stringify({ '{{ secrets.KEY }}': 1, list: [1.1, `a ${token} b`] }))
    expect(run.request).toMatchObject({
      url: request.url,
      headers: request.headers,
      body: JSON.stringify(request.payload),
    })
    expect(text).not.toContain('quoted')
  })

  it.concurrent('is sent unchanged in raw text', async () => {
    const headers = { 'Content-Type': 'text/plain' }
    await runTask({ url: target.url('/raw'), headers, payload: 'say {{ secrets.TOKEN }}' })
    expect(target.requestsTo('/raw')[0]?.body.toString()).toBe(`say ${token}`)
  })

  it.concurrent('that is missing ends the task at once without a call; once it exists, a new task is sent', async () => {
    const request = { url: target.url('/missing'), headers: { X: '{{ secrets.LATER }}' }, retry: { max_retries: 5 } }
    const { task, run } = await runTask(request)
    expect(task).toMatchObject({ state: 'dead', attempts: 1 })
    expect(run).toMatchObject({
      error: { code: 'secret_missing' },
      response: null,
      request: { headers: request.headers },
    })
    expect(run.error.message).toContain('{{ secrets.LATER }}')
    expect(target.requestsTo('/missing')).toEqual([])
    await put('LATER', 'here now')
    await waitFor(
      async () => (await runTask(request)).task.state,
      state => state === 'success',
    )
    expect(headerOf('/missing', 'X')).toBe('here now')
  })

  describe('whose value', () => {
    it.concurrent.each(unusable)('%s ends the task at once without a call', async (_, name, value, request, code) => {
      const before = target.requests.length
      const { task, run, text } = await runTask({ url: target.url('/unused'), ...request, retry: { max_retries: 5 } })
      expect([task.state, task.attempts, run.error.code]).toEqual(['dead', 1, code])
      expect(run.error.message).not.toContain('has no')
      expect(text).toContain(name)
      expect(text).not.toContain(value)
      expect(target.requests.length).toBe(before)
    })
  })

  it.concurrent('is hidden when a target echoes it in headers, in a redirect, in a body, or at the cut of a body', async () => {
    const encoded = encodeURIComponent(token)
    const forms = [token, encoded, JSON.stringify(token).slice(1, -1), Buffer.from(`:${token}`).toString('base64')]
    const echo = {
      status: 302,
      headers: { location: `/login?back=${encoded}`, 'x-echo': `got ${token}`, 'set-cookie': [`a=${encoded}`, 'b=1'] },
      body: `{"echo":"${forms.join('|')}"}`,
    }
    target.answer('/echo', echo)
    const request = { headers: { Authorization: '{{ secrets.TOKEN }}' } }
    const { run, text } = await runTask({ url: target.url('/echo'), ...request })
    const shown = '{{ secrets.TOKEN }}'
    expect(run.response.headers).toMatchObject({
      location: `/login?back=${shown}`,
      'x-echo': `got ${shown}`,
      'set-cookie': [`a=${shown}`, 'b=1'],
    })
    expect(run.error.message).toContain(`Location: /login?back=${shown}`)
    expect(run.response.body).toMatch(/^\{"echo":"(\{\{ secrets\.TOKEN \}\}\|){3}.{0,2}\{\{ secrets\.TOKEN \}\}=*"\}$/)
    for (const form of forms) expect(text).not.toContain(form)

    for (const visible of [5, token.length]) {
      target.answer('/cut', { status: 500, body: `${'#'.repeat(65_536 - visible)}${token} and more` })
      const { run: cut } = await runTask({ url: target.url('/cut'), ...request })
      expect(cut.response.body_truncated).toBe(true)
      expect(cut.response.body.replaceAll('#', '')).not.toMatch(/p\//)
    }
    target.answer('/zipped', { status: 200, headers: { 'content-encoding': 'gzip' }, body: token })
    const { run: zipped } = await runTask({ url: target.url('/zipped'), ...request })
    expect(zipped.response).toMatchObject({ body: '', body_truncated: true, headers: { 'content-encoding': 'gzip' } })
  })

  it.concurrent('goes to no other host than those that it is bound to, and the task is dead at once', async () => {
    const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/secrets/BOUND`
    const here = `127.0.0.1:${target.port}`
    const bind = (...allowed_hosts: string[]) => belfry.call('PUT', path, { value: 'bound value', allowed_hosts })
    const request = { url: target.url('/bound'), headers: { X: '{{ secrets.BOUND }}' }, retry: { max_retries: 5 } }
    await bind('api.example.com')
    const { task, run, text } = await runTask(request)
    expect([task.state, task.attempts, run.error.code]).toEqual(['dead', 1, 'secret_not_allowed'])
    expect(text).not.toContain('bound value')
    expect(target.requestsTo('/bound')).toEqual([])
    await bind('api.example.com', here)
    await waitFor(
      async () => (await runTask(request)).task.state,
      state => state === 'success',
    )
    expect(headerOf('/bound', 'X')).toBe('bound value')
  })

  it.concurrent('leaves no response in the log where the workspace keeps none of requests with secrets', async () => {
    const other = await belfry.anotherCaller()
    const workspace = `/api/v1/workspaces/${other.workspaceId}`
    const key = { apiKey: other.apiKey ?? '' }
    await belfry.call('PUT', `${workspace}/secrets/TOKEN`, { value: 'a value' }, key)
    const owner = { token: other.token, workspaceId: other.workspaceId } as typeof other
    const changed = await belfry.call('PATCH', workspace, { keeps_responses_with_secrets: false }, owner)
    expect(changed.body.keeps_responses_with_secrets).toBe(false)
    target.answer('/quiet', { status: 500, headers: { 'x-reversed': 'eulav a' }, body: 'eulav a' })
    const runOf = async (headers: Record<string, string>) => {
      const event = { topic: 'a', payload: {}, target_url: target.url('/quiet'), headers, retry: { max_retries: 0 } }
      const { tasks: created } = (await belfry.call('POST', '/api/events', event, key)).body
      const { body } = await waitFor(
        () => belfry.call('GET', `${tasks}/${created[0].id}`, undefined, key),
        ({ body }) => body.state === 'dead',
      )
      return (await belfry.call('GET', `${runs}/${body.last_run.id}`, undefined, key)).body
    }
    const { response } = await runOf({ X: '{{ secrets.TOKEN }}' })
    expect(response).toMatchObject({ status: 500, headers: {}, body: '', body_truncated: true })
    expect((await runOf({})).response).toMatchObject({ status: 500, body: 'eulav a', body_truncated: false })
  })

  it.each(['api', 'dispatcher'] as const)('keeps the %s from starting with a wrong master key', async name => {
    const env = {
      DATABASE_URL: belfry.databaseUrl,
      JWT_SECRET: randomBytes(32).toString('hex'),
      PORT: '0',
      METRICS_PORT: '0',
      LOG_LEVEL: 'silent',
    }
    const service = spawnService(name, { ...env, ENCRYPTION_KEYS: aMasterKey() })
    expect(await service.ended).toBe(1)
    const [title, line, ...more] = service.output.trim().split('\n')
    expect([title, line]).toEqual(['Error: The configuration is invalid:', expect.stringContaining('ENCRYPTION_KEYS')])
    expect([line, more]).toEqual([expect.stringContaining('k1 is not the one'), []])
  })
})
