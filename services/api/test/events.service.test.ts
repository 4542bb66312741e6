import { fromId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { type Caller, type Json, useApi } from './setup.ts'

const api = useApi()
const events = '/api/events'
const subscriptions = '/api/v1/scheduler/subscriptions'
const tasks = '/api/v1/scheduler/tasks'
const anEvent = (changes: Record<string, unknown> = {}) => ({ topic: 'orders.paid', payload: { n: 1 }, ...changes })
const target = 'https://example.com/hook'

const as = (caller: Caller) => (method: string, path: string, body?: unknown) =>
  api.send(method, path, body, { 'X-Api-Key': caller.apiKey })

describe('works', () => {
  it('publishes to a target: one task with the id of the event, due now', async () => {
    const body = anEvent({ target_url: target, headers: { 'X-Own': 'a' }, retry: { max_retries: 1 }, timeout_ms: 2000 })
    const { status, body: event } = await api.call('POST', events, body)
    expect(status).toBe(202)
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-hjkmnp-tv-z]{26}$/),
      topic: 'orders.paid',
      tasks: [
        expect.objectContaining({ source: 'event', state: 'pending', topic: 'orders.paid', name: 'orders.paid' }),
      ],
    })
    const [task] = event.tasks
    expect(task).toMatchObject({ event_id: event.id, url: target, method: 'POST', payload: { n: 1 }, timeout_ms: 2000 })
    expect(task).toMatchObject({ headers: { 'X-Own': 'a' }, retry: { max_retries: 1, backoff: 'exponential' } })
    expect(task.execute_at).toBe(task.created_at)
    expect((await api.call('GET', `${tasks}/${task.id}`)).body).toEqual(task)
  })

  it('has a path below /api/v1, too', async () => {
    const answer = await api.call('POST', '/api/v1/events', anEvent({ target_url: target }))
    expect([answer.status, answer.body.topic]).toEqual([202, 'orders.paid'])
    expect((await api.call('GET', '/api/v1/events')).status).toBe(405)
  })

  it('lists the tasks of an event, over many events and subscriptions', async () => {
    const call = as(await api.signUp())
    for (let i = 0; i < 30; i++) await call('POST', subscriptions, { topic: 'many', url: `${target}/${i}` })
    const [first, second] = [
      (await call('POST', events, anEvent({ topic: 'many' }))).body,
      (await call('POST', events, anEvent({ topic: 'many' }))).body,
    ]
    const other = (await call('POST', events, anEvent({ target_url: target }))).body
    async function found(query: string): Promise<string[]> {
      const ids: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await call('GET', `${tasks}?limit=20&${query}${cursor}`)
        ids.push(...body.data.map(({ id }: Json) => id))
        if (body.next_cursor === null) return ids.sort()
        cursor = `&cursor=${body.next_cursor}`
      }
    }
    const idsOf = (...list: Json[]) => list.flatMap(event => event.tasks.map(({ id }: Json) => id)).sort()
    expect(await found(`event_id=${first.id}`)).toEqual(idsOf(first))
    expect(await found(`event_id=${first.id}&event_id=${other.id}`)).toEqual(idsOf(first, other))
    expect(await found(`event_id=${second.id}&state=dead`)).toEqual([])
    expect((await as(await api.signUp())('GET', `${tasks}?event_id=${first.id}`)).body.data).toEqual([])
    expect((await call('GET', `${tasks}?event_id=evt_0`)).status).toBe(400)
  })

  it('keeps the payload to the byte', async () => {
    const payload =
      '{"n":12345678901234567890, "p" : 1.10,"a":2,"a":3,"z":"\\u0000\\ud83d\\udc00\\ude00","\\udfff\\u0000":0}'
    const answer = await api.call('POST', events, `{"payload":${payload},"target_url":"${target}","topic":"a"}`)
    expect(answer.text).toContain(`"payload":${payload}`)
  })

  it('publishes to every active subscription that matches, each with its own task', async () => {
    const call = as(await api.signUp())
    const subscribe = async (topic: string, more: Record<string, unknown> = {}) =>
      (await call('POST', subscriptions, { topic, url: `${target}/${encodeURIComponent(topic)}`, ...more })).body
    for (const topic of ['orders.paid', 'orders.*', '*', 'orders.paid.*', 'orders', 'orders.eu.*'])
      await subscribe(topic)
    await subscribe('orders.paid', { active: false, url: `${target}/inactive` })
    const published = async (topic: string) =>
      (await call('POST', events, anEvent({ topic }))).body.tasks.map((task: Json) =>
        decodeURIComponent(task.url.slice(target.length)),
      )
    expect(await published('orders.paid')).toEqual(['/orders.paid', '/orders.*', '/*'])
    expect(await published('orders')).toEqual(['/*', '/orders'])
    expect(await published('orders.eu.paid')).toEqual(['/orders.*', '/*', '/orders.eu.*'])
    expect(await published('invoices')).toEqual(['/*'])
  })

  it('publishes only to subscriptions whose filter the payload matches', async () => {
    const call = as(await api.signUp())
    const large = { path: 'order.total', op: 'gte', value: 100 }
    const filter = [large, { path: 'country', op: 'in', value: ['DE', 'AT'] }]
    const created = await call('POST', subscriptions, { topic: 'orders.*', url: `${target}/large`, filter })
    expect([created.status, created.body.filter]).toEqual([201, filter])
    await call('POST', subscriptions, { topic: 'orders.*', url: `${target}/all` })
    const reached = async (payload: unknown) =>
      (await call('POST', events, anEvent({ payload }))).body.tasks.map(({ url }: Json) => url.slice(target.length))
    expect(await reached({ order: { total: 100 }, country: 'DE' })).toEqual(['/large', '/all'])
    expect(await reached({ order: { total: 99.99 }, country: 'DE' })).toEqual(['/all'])
    expect(await reached({ order: { total: '100' }, country: 'DE' })).toEqual(['/all'])
    expect(await reached({ order: {} })).toEqual(['/all'])
    const path = `${subscriptions}/${created.body.id}`
    expect((await call('PATCH', path, { active: true })).body.filter).toEqual(filter)
    expect((await call('PATCH', path, { filter: [large] })).body.filter).toEqual([large])
    expect(await reached({ order: { total: 1e3 } })).toEqual(['/large', '/all'])
    expect((await call('PATCH', path, { filter: [] })).body.filter).toEqual([])
    expect(await reached({})).toEqual(['/large', '/all'])
  })

  it('gives each subscriber its own headers, retries and timeout', async () => {
    const call = as(await api.signUp())
    const own = { headers: { 'X-Key': 'own' }, retry: { max_retries: 0 }, timeout_ms: 1500 }
    await call('POST', subscriptions, { topic: '*', url: target, ...own })
    await call('POST', subscriptions, { topic: '*', url: target })
    const headers = { 'x-key': 'event', 'X-Trace': '1' }
    const { body } = await call('POST', events, anEvent({ headers }))
    expect(body.tasks[0]).toMatchObject({ headers: { 'X-Trace': '1', 'X-Key': 'own' }, timeout_ms: 1500 })
    expect(body.tasks[0].headers).not.toHaveProperty('x-key')
    expect(body.tasks[0].retry.max_retries).toBe(0)
    expect(body.tasks[1]).toMatchObject({ headers, retry: { max_retries: 5 }, timeout_ms: 30_000 })
    expect(new Set(body.tasks.map((task: Json) => task.event_id))).toEqual(new Set([body.id]))
  })

  it('responds with 202 and no tasks when the topic has no subscription', async () => {
    const before = await api.count('tasks')
    const { status, body } = await as(await api.signUp())('POST', events, anEvent())
    expect([status, body.tasks]).toEqual([202, []])
    expect(await api.count('tasks')).toBe(before)
  })

  it('keeps, changes, lists and deletes subscriptions', async () => {
    const call = as(await api.signUp())
    const created = await call('POST', subscriptions, { topic: 'a.*', url: target })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`${subscriptions}/${created.body.id}`)
    expect(created.body).toEqual({
      id: expect.stringMatching(/^sub_/),
      workspace_id: expect.stringMatching(/^ws_/),
      key: null,
      topic: 'a.*',
      filter: [],
      url: target,
      headers: {},
      retry: { max_retries: 5, backoff: 'exponential', base_delay_ms: 10_000, max_delay_ms: 3_600_000 },
      timeout_ms: 30_000,
      on_success: null,
      on_failure: null,
      on_attempt: null,
      queue: null,
      connection: null,
      max_age_ms: null,
      labels: [],
      active: true,
      expires_at: null,
      mcp: null,
      created_by: expect.stringMatching(/^key_/),
      failing_since: null,
      paused_reason: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const path = `${subscriptions}/${created.body.id}`
    expect((await call('GET', path)).body).toEqual(created.body)
    const changed = await call('PATCH', path, { active: false, headers: { A: 'b' }, retry: { max_retries: 2 } })
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        ...created.body,
        active: false,
        headers: { A: 'b' },
        retry: { ...created.body.retry, max_retries: 2 },
        updated_at: changed.body.updated_at,
      },
    ])
    expect((await call('POST', events, anEvent({ topic: 'a.b' }))).body.tasks).toEqual([])
    const more = await call('POST', subscriptions, { topic: '*', url: target })
    const first = await call('GET', `${subscriptions}?limit=1`)
    expect(first.body.data).toEqual([more.body])
    const second = await call('GET', `${subscriptions}?limit=1&cursor=${first.body.next_cursor}`)
    expect(second.body).toEqual({ data: [changed.body], next_cursor: null })
    expect((await call('DELETE', path)).status).toBe(204)
    for (const method of ['GET', 'DELETE']) expect((await call(method, path)).status).toBe(404)
  })
})

describe('refuses', () => {
  it.each([
    ['a topic with an empty part', { topic: 'a..b' }, 'topic', 'invalid_topic'],
    ['a topic with a wildcard', { topic: 'a.*' }, 'topic', 'invalid_topic'],
    ['a topic of 201 characters', { topic: 'a'.repeat(201) }, 'topic', 'invalid_topic'],
    ['no topic', { topic: undefined }, 'topic', 'required'],
    ['no payload', { payload: undefined }, 'payload', 'required'],
    ['null as the payload', { payload: null }, 'payload', 'invalid_type'],
    ['a list as the payload', { payload: [1] }, 'payload', 'invalid_type'],
    ['a text as the payload', { payload: 'hello' }, 'payload', 'invalid_type'],
    [
      'a broken reference in the payload',
      { payload: { a: '{{ secrets.a }}' } },
      'payload.a',
      'invalid_secret_reference',
    ],
    ['a private target', { target_url: 'http://169.254.169.254/' }, 'target_url', 'blocked_address'],
    ['a target in disguise', { target_url: 'http://0x7f.1/' }, 'target_url', 'blocked_address'],
    ['a relative target', { target_url: '/hook' }, 'target_url', 'invalid_url'],
    ['our own header', { headers: { 'webhook-id': 'x' } }, 'headers.webhook-id', 'invalid_header'],
    ['a time', { execute_at: '2098-01-01T00:00:00Z' }, 'execute_at', 'unknown_field'],
  ])('to publish %s', async (_what, change, path, code) => {
    const before = await api.count('tasks')
    const { status, body } = await api.call('POST', events, anEvent({ target_url: target, ...change }))
    expect([status, body.code]).toEqual([400, 'validation_failed'])
    expect(body.errors).toMatchObject([{ path, code }])
    expect(await api.count('tasks')).toBe(before)
  })

  it('a new or changed subscription with an invalid topic or a private target', async () => {
    const { body: subscription } = await api.call('POST', subscriptions, { topic: 'a', url: target })
    for (const [field, value] of [
      ['topic', 'a.*.b'],
      ['topic', '*.a'],
      ['url', 'http://10.0.0.1/'],
      ['active', 'yes'],
      ['method', 'GET'],
    ] as const) {
      const created = await api.call('POST', subscriptions, { topic: 'a', url: target, [field]: value })
      const changed = await api.call('PATCH', `${subscriptions}/${subscription.id}`, { [field]: value })
      for (const { status, body } of [created, changed]) {
        expect([status, body.errors[0].path]).toEqual([400, field])
      }
    }
  })

  it('more than 1,000 subscriptions, also concurrent ones', async () => {
    const caller = await api.signUp()
    const call = as(caller)
    const { body } = await call('POST', subscriptions, { topic: 'a', url: target })
    const copy = `INSERT INTO subscriptions
      SELECT gen_random_uuid(), workspace_id, 'b', true, url, headers, max_retries, backoff, base_delay_ms, max_delay_ms,
             timeout_ms FROM subscriptions, generate_series(1, 997) WHERE topic = 'a' AND workspace_id =
      (SELECT workspace_id FROM subscriptions ORDER BY created_at DESC LIMIT 1)`
    await api.db.query(copy)
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call('POST', subscriptions, { topic: 'b', url: target })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409])
    expect((await call('DELETE', `${subscriptions}/${body.id}`)).status).toBe(204)
    const event = await call('POST', events, anEvent({ topic: 'b' }))
    expect(event.body.tasks).toHaveLength(999)
    expect(event.body.tasks[998].id > event.body.tasks[0].id).toBe(true)
    const large = await call('POST', events, { topic: 'b', payload: { text: 'a'.repeat(20_000) } })
    expect([large.status, large.body.code]).toEqual([413, 'payload_too_large'])
  })
})

describe('permits', () => {
  it('no request without a key', async () => {
    for (const path of [events, subscriptions]) expect((await api.send('POST', path, {})).status).toBe(401)
  })

  it('no other workspace: neither its subscriptions nor its events', async () => {
    const [mine, other] = [as(await api.signUp()), as(await api.signUp())]
    const { body } = await mine('POST', subscriptions, { topic: '*', url: target })
    for (const id of [body.id, 'sub_malformed']) {
      expect((await other('GET', `${subscriptions}/${id}`)).status).toBe(404)
      expect((await other('PATCH', `${subscriptions}/${id}`, { active: false })).status).toBe(404)
      expect((await other('DELETE', `${subscriptions}/${id}`)).status).toBe(404)
    }
    expect((await other('GET', subscriptions)).body.data).toEqual([])
    expect((await other('POST', events, anEvent())).body.tasks).toEqual([])
    expect((await mine('POST', events, anEvent())).body.tasks).toHaveLength(1)
  })
})

it.each<[unknown, string, string]>([
  [{ path: 'a' }, 'filter.0.op', 'required'],
  [{ path: 'a', op: 'like', value: 'b' }, 'filter.0.op', 'invalid_value'],
  [{ path: 'a..b', op: 'eq', value: 1 }, 'filter.0.path', 'invalid_path'],
  [{ path: 'a', op: 'eq', value: { b: 1 } }, 'filter.0.value', 'invalid_type'],
  [{ path: 'a', op: 'eq', value: 1, or: [] }, 'filter.0.or', 'unknown_field'],
  [{ path: 'a', op: 'in', value: [] }, 'filter.0.value', 'out_of_range'],
  [{ path: 'a', op: 'prefix', value: 1 }, 'filter.0.value', 'invalid_type'],
  [{ path: 'a', op: 'exists', value: 'true' }, 'filter.0.value', 'invalid_type'],
  [{ path: 'a', op: 'gt', value: '1' }, 'filter.0.value', 'invalid_type'],
  [{ path: 'a', op: 'lte', value: 2 ** 53 }, 'filter.0.value', 'out_of_range'],
  [{ path: 'a', op: 'in', value: Array(100).fill('x'.repeat(100)) }, 'filter', 'too_long'],
])('refuses the condition %j at %s: %s', async (condition, path, code) => {
  const body = { topic: 'a', url: target, filter: [condition] }
  const answer = await api.call('POST', subscriptions, body)
  expect([answer.status, answer.body.errors]).toEqual([400, [expect.objectContaining({ path, code })]])
})

it('refuses more than 20 conditions', async () => {
  const filter = Array(21).fill({ path: 'a', op: 'exists', value: true })
  const answer = await api.call('POST', subscriptions, { topic: 'a', url: target, filter })
  expect(answer.body.errors).toMatchObject([{ path: 'filter', message: 'filter must have at most 20 conditions.' }])
})

describe('a subscription that was switched off, because it only failed', () => {
  it('misses events, which are dead letters, until it is on again', async () => {
    const caller = await api.signUp()
    const call = as(caller)
    const { body: created } = await call('POST', subscriptions, { topic: 'missed', url: target })
    await call('POST', subscriptions, { topic: 'missed', url: `${target}/healthy` })
    const id = fromId('sub', created.id)
    expect([created.failing_since, created.paused_reason]).toEqual([null, null])
    await api.db.query(
      `UPDATE subscriptions SET failing_since = now(), failing_warned_at = now(), paused_reason = 'failing' WHERE id = $1`,
      [id],
    )
    const path = `${subscriptions}/${created.id}`
    const off = { active: false, paused_reason: 'failing', failing_since: expect.any(String) }
    expect((await call('GET', path)).body).toMatchObject(off)
    const [missed, sent] = (await call('POST', events, anEvent({ topic: 'missed' }))).body.tasks
    expect(missed).toMatchObject({ state: 'dead', state_reason: 'subscription_off', attempts: 0 })
    expect(missed.finished_at).toBe(missed.created_at)
    expect(sent).toMatchObject({ url: `${target}/healthy`, state: 'pending', finished_at: null })
    expect((await call('GET', `${tasks}/${missed.id}`)).body).toEqual(missed)
    const { body: letters } = await call('GET', '/api/v1/scheduler/dead-letters?topic=missed&host=example.com')
    expect(letters.data.map((letter: Json) => letter.id)).toEqual([missed.id])
    expect((await call('PATCH', path, { max_age_ms: null })).body).toMatchObject(off)
    const on = { active: true, paused_reason: null, failing_since: null }
    expect((await call('PATCH', path, { active: true })).body).toMatchObject(on)
    const replayed = await call('POST', `${tasks}/${missed.id}/replay`)
    expect(replayed.body).toMatchObject({
      state: 'pending',
      payload: missed.payload,
      url: target,
      replay_of: missed.id,
    })
    expect((await call('POST', events, anEvent({ topic: 'missed' }))).body.tasks).toHaveLength(2)
    await api.db.query(`UPDATE subscriptions SET paused_reason = 'failing' WHERE id = $1`, [id])
    expect((await call('PATCH', path, { active: false })).body).toMatchObject({ active: false, paused_reason: null })
    expect((await call('POST', events, anEvent({ topic: 'missed' }))).body.tasks).toHaveLength(1)
  })

  it('names itself in the tasks of events while it fails', async () => {
    const call = as(await api.signUp())
    const { body: created } = await call('POST', subscriptions, { topic: 'failing', url: target })
    const id = fromId('sub', created.id)
    const namedBy = async () => {
      const [task] = (await call('POST', events, anEvent({ topic: 'failing' }))).body.tasks
      const text = 'SELECT subscription_id AS id FROM task_requests WHERE task_id = $1'
      return (await api.db.query(text, [fromId('task', task.id)])).rows[0].id
    }
    expect(await namedBy()).toBeNull()
    await api.db.query('UPDATE subscriptions SET failing_since = now() WHERE id = $1', [id])
    expect(await namedBy()).toBe(id)
  })
})
