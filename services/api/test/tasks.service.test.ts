import { holdOverdueTasks, releaseHeldTasks } from '@belfry/db/migrate/held-tasks'
import { fromId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'

describe('works', () => {
  it('creates a task with every field and its defaults', async () => {
    const body = aTaskBody({ payload: { a: 1 }, headers: { 'X-Own': 'yes' } })
    const { status, body: task, headers } = await api.call('POST', tasks, body)
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`${tasks}/${task.id}`)
    expect(task).toEqual({
      id: expect.stringMatching(/^task_[0-9a-hjkmnp-tv-z]{26}$/),
      workspace_id: api.caller.workspaceId,
      name: 'A task',
      source: 'task',
      cronjob_id: null,
      event_id: null,
      topic: null,
      url: 'https://example.com/hook',
      method: 'POST',
      headers: { 'X-Own': 'yes' },
      payload: { a: 1 },
      payload_base64: null,
      content_type: null,
      queue: null,
      connection: null,
      execute_at: body.execute_at,
      state: 'pending',
      state_reason: null,
      attempts: 0,
      retry: { max_retries: 5, backoff: 'exponential', base_delay_ms: 10_000, max_delay_ms: 3_600_000 },
      timeout_ms: 30_000,
      on_success: null,
      on_failure: null,
      on_attempt: null,
      expires_at: null,
      key: null,
      labels: [],
      next_retry_at: null,
      last_run: null,
      callback_of: null,
      replay_of: null,
      created_by: expect.stringMatching(/^key_/),
      updated_by: null,
      blocked: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: task.created_at,
      finished_at: null,
    })
    expect((await api.call('GET', `${tasks}/${task.id}`)).body).toEqual(task)
  })

  it('keeps the payload to the byte: big numbers, trailing zeros, key order, duplicate keys, emoji', async () => {
    const payload =
      '{"n":12345678901234567890, "p" : 1.10,"b":1,"a":2,"a":3,"e":1e400,"s":"😀 \\u00e9","z":"\\u0000\\ud83d\\udc00\\ude00","\\udfff\\u0000":0}'
    const body = JSON.stringify(aTaskBody()).replace(/}$/, `,"payload":${payload}}`)
    const created = await api.call('POST', tasks, body)
    expect(created.status).toBe(201)
    expect(created.text).toContain(`"payload":${payload}`)
    expect((await api.call('GET', `${tasks}/${created.body.id}`)).text).toContain(`"payload":${payload}`)
  })

  it('converts an offset to UTC, and accepts the last second of 2099', async () => {
    const moved = await api.call('POST', tasks, aTaskBody({ execute_at: '2098-05-01T12:00:00+02:00' }))
    expect(moved.body.execute_at).toBe('2098-05-01T10:00:00.000Z')
    expect((await api.call('POST', tasks, aTaskBody({ execute_at: '2099-12-31T23:59:59Z' }))).status).toBe(201)
  })

  it('takes a local time in a time zone, and answers with both', async () => {
    const local = { execute_at: '2098-03-30T02:30:00', expires_at: '2098-03-30T04:00:00', timezone: 'Europe/Berlin' }
    const shown = { execute_at: '2098-03-30T01:00:00.000Z', local_time: '2098-03-30T03:00:00.000+02:00' }
    const both = { ...shown, timezone: 'Europe/Berlin', expires_at: '2098-03-30T02:00:00.000Z' }
    const { key: _, ...plain } = aTaskBody({ ...local, expires_at: undefined })
    const { execute_at, local_time, timezone, expires_at } = (await api.call('POST', tasks, plain)).body
    expect({ execute_at, local_time, timezone, expires_at }).toEqual({ ...both, expires_at: null })
    const keyed = { ...aTaskBody(local), key: 'local' }
    const { body: task } = await api.call('POST', tasks, keyed)
    expect(task).toMatchObject(both)
    const again = await api.call('POST', tasks, { ...keyed, on_conflict: 'keep' })
    expect(again).toMatchObject({ status: 200, body: { id: task.id, ...both } })
    const batch = await api.call('POST', `${tasks}/batch`, { tasks: [plain, aTaskBody()] })
    expect(batch.body.data).toMatchObject([{ task: shown }, { task: { id: expect.any(String) } }])
    expect(batch.body.data[1].task).not.toHaveProperty('timezone')
    const moved = { execute_at: '2098-10-26T02:30:00', expires_at: null, timezone: 'Europe/Berlin' }
    expect((await api.call('PATCH', `${tasks}/${task.id}`, moved)).body).toMatchObject({
      ...{ execute_at: '2098-10-26T00:30:00.000Z', local_time: '2098-10-26T02:30:00.000+02:00', expires_at: null },
    })
    expect((await api.call('GET', `${tasks}/${task.id}`)).body).not.toHaveProperty('local_time')
    const early = await api.call('POST', tasks, aTaskBody({ ...local, expires_at: '2098-03-30T02:00:00' }))
    expect(early.body.errors).toMatchObject([{ code: 'expires_at_not_after_execute_at' }])
    const past = await api.call('POST', tasks, { ...aTaskBody({ ...plain, execute_at: '2020-01-01T00:00:00' }), x: 1 })
    expect(past.body.errors).toMatchObject([{ path: 'x' }, { code: 'execute_at_not_future' }])
  })

  it('shows that the operator holds a task since a restore, also after a change', async () => {
    const { body: task } = await api.call('POST', tasks, aTaskBody({ execute_at: new Date(Date.now() + 60_000) }))
    await holdOverdueTasks(api.ctx.pool, new Date(Date.now() + 120_000))
    const read = async () => (await api.call('GET', `${tasks}/${task.id}`)).body
    expect(await read()).toMatchObject({ state: 'pending', execute_at: task.execute_at, blocked: { reason: 'held' } })
    await api.call('PATCH', `${tasks}/${task.id}`, { queue: 'other', execute_at: '2098-01-01T00:00:00Z' })
    expect(await read()).toMatchObject({ queue: 'other', blocked: { reason: 'held' } })
    await releaseHeldTasks(api.ctx.pool)
    expect((await read()).blocked).toBeNull()
  })

  it('changes a pending task', async () => {
    const { body: task } = await api.call('POST', tasks, aTaskBody({ payload: 1 }))
    const change = { name: 'Other', payload: { x: [1] }, retry: { max_retries: 1 }, execute_at: '2098-01-01T00:00:00Z' }
    const { status, body } = await api.call('PATCH', `${tasks}/${task.id}`, change)
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'Other', payload: { x: [1] }, execute_at: '2098-01-01T00:00:00.000Z' })
    expect(body.retry).toEqual({ ...task.retry, max_retries: 1 })
    expect(body.url).toBe(task.url)
  })

  it('cancels a pending task, once (spec 4, rule 3)', async () => {
    const { body: task } = await api.call('POST', tasks, aTaskBody())
    const cancelled = await api.call('DELETE', `${tasks}/${task.id}`)
    expect(cancelled.status).toBe(200)
    expect(cancelled.body).toMatchObject({ id: task.id, state: 'cancelled', state_reason: 'user' })
    expect(cancelled.body.finished_at).not.toBeNull()
    for (const [method, body] of [['DELETE'], ['PATCH', { name: 'x' }]] as const) {
      const refused = await api.call(method, `${tasks}/${task.id}`, body)
      expect(refused.status).toBe(409)
      expect(refused.body).toMatchObject({ code: 'task_not_pending', current_state: 'cancelled' })
    }
  })

  it('leaves out occurrences that are not due yet, or lists, counts and cancels only them', async () => {
    const caller = await api.signUp()
    const call = (method: string, path: string, body?: unknown) =>
      api.send(method, tasks + path, body, { 'X-Api-Key': caller.apiKey })
    const ids: string[] = []
    for (const name of ['by hand', 'due', 'to come']) ids.push((await call('POST', '', aTaskBody({ name }))).body.id)
    const [, due, upcoming] = ids.map(id => fromId('task', id))
    await api.db.query("UPDATE tasks SET source = 'cron' WHERE id IN ($1, $2)", [due, upcoming])
    await api.db.query("UPDATE tasks SET execute_at = now() - interval '1 s' WHERE id = $1", [due])
    const listed = async (query: string) => (await call('GET', query)).body.data.map(({ name }: Json) => name)
    expect(await listed('?upcoming=false')).toEqual(['due', 'by hand'])
    expect(await listed('?upcoming=true')).toEqual(['to come'])
    expect((await call('GET', '/count?state=pending&upcoming=true')).body.count).toBe(1)
    expect((await call('GET', '?upcoming=no')).body.errors[0].path).toBe('upcoming')
    expect((await call('POST', '/cancel', { filter: { upcoming: true } })).body.cancelled).toBe(1)
    expect(await listed('?state=cancelled')).toEqual(['to come'])
  })

  it('lists tasks newest first, page by page, with filters', async () => {
    const caller = await api.signUp()
    const call = (path: string) => api.send('GET', path, undefined, { 'X-Api-Key': caller.apiKey })
    const ids: string[] = []
    for (let i = 0; i < 7; i++) {
      const body = aTaskBody({ name: i % 2 ? 'odd one' : '100% even_', execute_at: `2097-01-0${i + 1}T00:00:00Z` })
      const created = await api.send('POST', tasks, body, { 'X-Api-Key': caller.apiKey })
      ids.unshift(created.body.id)
    }
    await api.send('DELETE', `${tasks}/${ids[0]}`, undefined, { 'X-Api-Key': caller.apiKey })
    const seen: string[] = []
    let cursor = ''
    do {
      const { body } = await call(`${tasks}?limit=3${cursor}`)
      seen.push(...body.data.map((task: { id: string }) => task.id))
      cursor = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`
    } while (cursor)
    expect(seen).toEqual(ids)
    const found = async (query: string) => (await call(`${tasks}?${query}`)).body.data.length
    expect(await found('state=cancelled')).toBe(1)
    expect(await found('state=cancelled&state=pending')).toBe(7)
    expect(await found('name=100%25')).toBe(4)
    expect(await found('name=even')).toBe(0)
    expect(await found('from=2097-01-02T00:00:00Z&to=2097-01-04T00:00:00Z')).toBe(2)
    expect(await found('source=cron')).toBe(0)
    const event = { topic: 'orders.paid', payload: {}, target_url: 'https://example.com/' }
    await api.send('POST', '/api/events', event, { 'X-Api-Key': caller.apiKey })
    expect([await found('topic=orders.paid'), await found('topic=orders')]).toEqual([1, 0])
  })
})

describe('refuses', () => {
  const future = '2098-01-01T00:00:00Z'
  it.each([
    ['a missing execute_at', { execute_at: undefined }, 'execute_at', 'required'],
    ['a past execute_at', { execute_at: '2020-01-01T00:00:00Z' }, 'execute_at', 'execute_at_not_future'],
    ['an execute_at without an offset', { execute_at: '2098-01-01T00:00:00' }, 'execute_at', /./],
    ['30 February', { execute_at: '2098-02-30T00:00:00Z' }, 'execute_at', /./],
    ['an execute_at that is a number', { execute_at: 4_000_000_000 }, 'execute_at', /./],
    ['an execute_at of "1"', { execute_at: '1' }, 'execute_at', /./],
    ['an execute_at after 2099', { execute_at: '2100-01-01T00:00:00Z' }, 'execute_at', /./],
    ['an unknown field', { colour: 'red' }, 'colour', 'unknown_field'],
    ['another method', { method: 'TRACE' }, 'method', /./],
    ['a method in lower case', { method: 'post' }, 'method', /./],
    ['a relative URL', { url: '/hook' }, 'url', /./],
    ['a URL of another scheme', { url: 'ftp://example.com/' }, 'url', /./],
    ['a URL with a password', { url: 'https://me:secret@example.com/' }, 'url', /./],
    ['a URL with a fragment', { url: 'https://example.com/#x' }, 'url', /./],
    ['a URL of 2,049 characters', { url: `https://example.com/${'a'.repeat(2029)}` }, 'url', /./],
    ['a private address', { url: 'http://192.168.1.1/' }, 'url', 'blocked_address'],
    ['a private address in disguise', { url: 'http://0x7f.1/' }, 'url', 'blocked_address'],
    ['an empty name', { name: '' }, 'name', /./],
    ['a long name', { name: 'a'.repeat(201) }, 'name', /./],
    ['a forbidden header', { headers: { 'Content-Length': '5' } }, /^headers/, /./],
    ['our own header', { headers: { 'webhook-id': 'x' } }, /^headers/, /./],
    ['a header with a line break', { headers: { 'X-A': 'a\r\nX-B: c' } }, /^headers/, /./],
    ['too many retries', { retry: { max_retries: 21 } }, 'retry.max_retries', /./],
    ['a short timeout', { timeout_ms: 10 }, 'timeout_ms', /./],
  ])('%s', async (_what, change, path, code) => {
    const before = await api.count('tasks')
    const { status, body, headers } = await api.call('POST', tasks, aTaskBody(change))
    expect(status).toBe(400)
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(body.code).toBe('validation_failed')
    expect(body.errors).toHaveLength(1)
    expect(body.errors[0]).toEqual({
      path: expect.stringMatching(path),
      code: expect.stringMatching(code),
      message: expect.stringMatching(/\.$/),
    })
    expect(await api.count('tasks')).toBe(before)
  })

  it('every error at once, with a hint for a misspelt name', async () => {
    const { body } = await api.call('POST', tasks, {
      executeAt: future,
      url: 'nope',
      method: 'GET',
      execute_at: '2020-01-01T00:00:00Z',
    })
    expect(body.errors.map((error: { path: string }) => error.path).sort()).toEqual(
      ['execute_at', 'executeAt', 'name', 'url'].sort(),
    )
    expect(JSON.stringify(body.errors)).toContain('execute_at')
  })

  it('with a problem whose type is the URL of its description', async () => {
    const { body: problem } = await api.call('GET', `${tasks}/task_unknown`)
    expect(problem.type).toBe('http://belfry.test/api/problems/not_found')
    const { status, body } = await api.send('GET', new URL(problem.type).pathname)
    expect([status, body]).toEqual([
      200,
      { code: 'not_found', status: 404, title: 'Not found', description: expect.any(String) },
    ])
    expect((await api.send('GET', '/api/problems/nonsense')).status).toBe(404)
  })

  it('points to events when execute_at is missing', async () => {
    const { body } = await api.call('POST', tasks, aTaskBody({ execute_at: undefined }))
    expect(body.errors[0].message).toContain('/api/events')
  })

  it.each([
    ['malformed JSON', '{"name":', 400, 'malformed_json'],
    ['an empty body', '', 400, 'validation_failed'],
    ['an array', '[]', 400, 'validation_failed'],
    ['null', 'null', 400, 'validation_failed'],
    ['U+0000', JSON.stringify({ ...{ name: 'a\u0000b' } }), 400, 'malformed_json'],
    ['a lone surrogate', '{"name":"\\ud800"}', 400, 'malformed_json'],
    ['U+0000 beside a payload that has it, too', '{"payload":"\\u0000","labels":["\\u0000"]}', 400, 'malformed_json'],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'malformed_json'],
    ['a depth of 40,000', `{"payload":${'['.repeat(40_000)}${']'.repeat(40_000)}}`, 400, 'malformed_json'],
    ['300 KB', JSON.stringify({ payload: 'a'.repeat(300_000) }), 413, 'payload_too_large'],
  ])('%s', async (_what, body, status, code) => {
    const before = await api.count('tasks')
    const answer = await api.call('POST', tasks, body)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(await api.count('tasks')).toBe(before)
  })

  it('a body of unknown length that grows too large', async () => {
    async function* chunks() {
      for (let i = 0; i < 40; i++) yield Buffer.alloc(10_000, 0x20)
    }
    const response = await fetch(api.url + tasks, {
      method: 'POST',
      headers: { 'X-Api-Key': api.caller.apiKey, 'Content-Type': 'application/json' },
      body: chunks() as unknown as ReadableStream,
      duplex: 'half',
    } as RequestInit).catch(() => null)
    if (response) expect(response.status).toBe(413)
    expect((await api.call('GET', tasks)).status).toBe(200)
  })

  it.each([
    'application/json;charset=utf8',
    'Application/JSON; Charset="UTF8"',
    'application/json;',
    'application/json ; profile="a;b"; charset=utf-8',
  ])('takes the content type %j', async type => {
    const { status } = await api.send('POST', tasks, aTaskBody(), {
      'X-Api-Key': api.caller.apiKey,
      'Content-Type': type,
    })
    expect(status).toBe(201)
  })

  it.each([
    ['another content type', { 'Content-Type': 'text/plain' }],
    ['a longer content type', { 'Content-Type': 'application/jsonl' }],
    ['another charset after a parameter', { 'Content-Type': 'application/json; v=1; charset=utf-16' }],
    ['another charset', { 'Content-Type': 'application/json; charset=latin1' }],
    ['a compressed body', { 'Content-Encoding': 'gzip' }],
  ])('%s', async (_what, headers) => {
    const { status, body } = await api.send('POST', tasks, aTaskBody(), { 'X-Api-Key': api.caller.apiKey, ...headers })
    expect([status, body.code]).toEqual([415, 'unsupported_media_type'])
  })

  it('a wrong method, naming those of the path', async () => {
    const { status, body, headers } = await api.call('PUT', tasks, aTaskBody())
    expect([status, body.code, headers.get('allow')]).toEqual([405, 'method_not_allowed', 'GET, POST'])
  })

  it('unknown and malformed query parameters, cursors and limits', async () => {
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'stat=dead',
      'state=asleep',
      'cursor=abc',
      'from=yesterday',
    ]) {
      const { status, body } = await api.call('GET', `${tasks}?${query}`)
      expect([query, status, body.code]).toEqual([query, 400, 'validation_failed'])
    }
  })

  it('a change to a past time or an invalid value', async () => {
    const { body: task } = await api.call('POST', tasks, aTaskBody())
    for (const change of [{ execute_at: '2020-01-01T00:00:00Z' }, { url: 'http://127.0.0.1/' }, { state: 'success' }]) {
      const { status, body } = await api.call('PATCH', `${tasks}/${task.id}`, change)
      expect([status, body.code]).toEqual([400, 'validation_failed'])
    }
    expect((await api.call('GET', `${tasks}/${task.id}`)).body).toEqual(task)
  })
})

describe('permits', () => {
  it('no request without a key, with a malformed key or with an unknown key', async () => {
    const garbage = `${api.caller.apiKey.slice(0, -1)}${api.caller.apiKey.endsWith('0') ? '1' : '0'}`
    for (const headers of [
      {},
      { 'X-Api-Key': 'bf_nope' },
      { 'X-Api-Key': garbage },
      { Authorization: 'Bearer x.y.z' },
    ]) {
      const {
        status,
        body,
        headers: answered,
      } = await api.send('POST', tasks, aTaskBody(), headers as Record<string, string>)
      expect([status, body.code]).toEqual([401, 'unauthenticated'])
      expect(answered.get('www-authenticate')).toBeTruthy()
    }
  })

  it('no key that has expired, five seconds later at the latest', async () => {
    const { apiKey } = await api.signUp()
    expect((await api.send('GET', tasks, undefined, { 'X-Api-Key': apiKey })).status).toBe(200)
    await api.db.query(`UPDATE api_keys SET expires_at = now() - interval '1 ms' WHERE prefix = $1`, [
      apiKey.slice(0, 8),
    ])
    const status = async () => (await api.send('GET', tasks, undefined, { 'X-Api-Key': apiKey })).status
    await expect.poll(status, { timeout: 6_000 }).toBe(401)
  })

  it('no other workspace: the response is that for an unknown task', async () => {
    const { body: task } = await api.call('POST', tasks, aTaskBody())
    const other = await api.signUp()
    const foreign = { 'X-Api-Key': other.apiKey, 'X-Request-Id': 'same' }
    const unknown = `${task.id.slice(0, -4)}zzzz`
    for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { name: 'x' }]] as const) {
      const answers = await Promise.all(
        [task.id, unknown, 'task_malformed', 'x'].map(id => api.send(method, `${tasks}/${id}`, body, foreign)),
      )
      for (const answer of answers) {
        expect(answer.status).toBe(404)
        expect(answer.text).toBe(answers[0]?.text)
      }
    }
    expect((await api.send('GET', tasks, undefined, foreign)).body.data).toEqual([])
    expect((await api.call('GET', `${tasks}/${task.id}`)).body.state).toBe('pending')
  })

  it('an owner with a session that names the workspace, and no stranger with one', async () => {
    const session = (caller: { token: string }, workspaceId = api.caller.workspaceId) => ({
      Authorization: `Bearer ${caller.token}`,
      'X-Workspace-Id': workspaceId,
    })
    expect((await api.send('GET', tasks, undefined, session(api.caller))).status).toBe(200)
    const stranger = await api.signUp()
    expect((await api.send('GET', tasks, undefined, session(stranger))).status).toBe(404)
    expect((await api.send('GET', tasks, undefined, { Authorization: `Bearer ${api.caller.token}` })).status).toBe(401)
    const wrong = { 'X-Api-Key': api.caller.apiKey, 'X-Workspace-Id': stranger.workspaceId }
    expect((await api.send('GET', tasks, undefined, wrong)).status).toBe(404)
  })
})
