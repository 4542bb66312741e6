import { randomBytes, randomUUID } from 'node:crypto'
import { fromId, toId } from '@belfry/domain/id'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Reaction, repeats, useCallbacks } from './mcp-callbacks.ts'
import { anOrganization } from './organization.ts'
import { type Answer, type Caller, type Json, useApi } from './setup.ts'

const api = useApi({ RATE_LIMITS: 'off', QSTASH_API: 'on' })
const path = '/api/v1/mcp-subscriptions'
const later = '2090-01-01T09:00:00Z'
const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`
const secret = newSecret()
const callback = (name = randomUUID()) => `https://agent.example.com/${name}`
const aReminder = (fields: object = {}) => ({
  ...{ name: 'reminder.due', arguments: { at: later, note: 'Call Ada' }, url: callback(), secret },
  ...fields,
})

const { challenges, reactions } = useCallbacks(api)

let caller: Caller
beforeEach(async () => {
  caller = await api.signUp()
})

const call = (method: string, to: string, body?: unknown, key = caller.apiKey): Promise<Answer> =>
  api.send(method, to, body, { 'X-Api-Key': key })
const subscribe = (body: object, key?: string) => call('POST', path, body, key)
const unsubscribe = ({ name, arguments: given, url }: Json, key?: string) =>
  call('POST', `${path}/unsubscribe`, { name, arguments: given, url }, key)
const scheduler = async (to: string): Promise<Json> => (await call('GET', `/api/v1/scheduler/${to}`)).body
const subscriptions = async (): Promise<Json[]> => (await scheduler('subscriptions')).data
const ended = (subscriptionId: string) =>
  api.db.query(`UPDATE subscriptions SET expires_at = now() - interval '1 second' WHERE id = $1`, [
    fromId('sub', subscriptionId),
  ])

describe('a subscription', () => {
  it('has one id however often it is made, is shown with who made it, and ends with what it has not sent', async () => {
    const body = aReminder()
    const { status, body: made } = await subscribe(body)
    expect([status, made]).toEqual([200, expect.objectContaining({ id: expect.stringMatching(/^mcp_[0-9a-f]{32}$/) })])
    const { id, refresh_before } = (await subscribe({ ...body, ttl_ms: 3_600_000 })).body
    expect([id, Date.parse(refresh_before) < Date.parse(made.refresh_before)]).toEqual([made.id, true])
    const [shown, ...others] = await subscriptions()
    expect([others, shown]).toEqual([
      [],
      expect.objectContaining({
        ...{ id: made.subscription_id, topic: '@reminder.due', url: body.url, active: true, key: id },
        ...{ created_by: expect.stringMatching(/^key_/), expires_at: refresh_before, labels: [id] },
        mcp: { name: 'reminder.due', arguments: body.arguments, principal: null },
      }),
    ])
    expect(challenges.filter(({ url }) => url === body.url)).toHaveLength(1)
    const { data } = await scheduler(`tasks?label=${id}`)
    expect(data.filter((task: Json) => task.state === 'pending')).toMatchObject([])
    await subscribe({ ...body, ttl_ms: null })
    const [task] = (await scheduler(`tasks?label=${id}&state=pending`)).data
    expect(task).toMatchObject({
      ...{
        execute_at: '2090-01-01T09:00:00.000Z',
        name: 'Reminder: Call Ada',
        headers: { 'X-MCP-Subscription-Id': id },
      },
      payload: { eventId: task.id, name: 'reminder.due', cursor: null, data: { note: 'Call Ada' } },
    })
    expect((await unsubscribe(body)).status).toBe(204)
    expect(await scheduler(`tasks/${task.id}`)).toMatchObject({
      state: 'cancelled',
      state_reason: 'subscription_deleted',
    })
    expect([await subscriptions(), (await unsubscribe(body)).status]).toEqual([[], 404])
  })

  it('keeps a reminder cancelled that a user has cancelled, also once its task is deleted', async () => {
    const body = aReminder({ ttl_ms: null })
    const { id } = (await subscribe(body)).body
    const reminders = async () => (await scheduler(`tasks?label=${id}&state=pending`)).data
    const [task] = await reminders()
    expect((await call('DELETE', `/api/v1/scheduler/tasks/${task.id}`)).status).toBe(200)
    await api.db.query('DELETE FROM tasks WHERE id = $1', [fromId('task', task.id)]) // as the retention does
    expect((await subscribe(body)).status).toBe(200)
    expect(await reminders()).toEqual([])
  })

  it('is a cron job for a cron expression, which ends with it, also in the dashboard', async () => {
    const body = aReminder({ arguments: { cron: '0 9 * * *', timezone: 'Europe/Berlin' }, ttl_ms: null })
    const { body: made } = await subscribe(body)
    const [job] = (await scheduler('cronjobs')).data
    expect(job).toMatchObject({ cron: '0 9 * * *', timezone: 'Europe/Berlin', key: made.id, ends_at: null })
    const { refresh_before } = (await subscribe({ ...body, ttl_ms: 30 * 86_400_000 })).body
    expect((await scheduler('cronjobs')).data).toMatchObject([{ id: job.id, ends_at: refresh_before }])
    expect(
      (await call('PATCH', `/api/v1/scheduler/subscriptions/${made.subscription_id}`, { active: false })).body.code,
    ).toBe('conflict')
    expect((await call('PATCH', `/api/v1/scheduler/cronjobs/${job.id}`, { payload: {} })).body.code).toBe('conflict')
    expect((await call('POST', `/api/v1/scheduler/cronjobs/${job.id}/pause`)).status).toBe(200)
    expect((await call('DELETE', `/api/v1/scheduler/subscriptions/${made.subscription_id}`)).status).toBe(204)
    expect((await scheduler('cronjobs')).data).toEqual([])
  })

  it('receives published events that its topic and filter match, in an envelope, without the headers of the publisher', async () => {
    const given = { topic: 'orders.*', filter: [{ path: 'total', op: 'gte', value: 100 }] }
    const { id } = (await subscribe({ ...aReminder({ name: 'topic' }), arguments: given })).body
    const publish = async (total: number, more = {}) =>
      (
        await call('POST', '/api/events', {
          topic: 'orders.paid',
          payload: { total, ...more },
          headers: { Authorization: 'x' },
        })
      ).body.tasks
    expect(await publish(99)).toEqual([])
    const [task] = await publish(100)
    expect(task).toMatchObject({
      ...{ headers: { 'X-MCP-Subscription-Id': id }, labels: [id], topic: 'orders.paid' },
      payload: { eventId: task.id, name: 'topic', data: { topic: 'orders.paid', payload: { total: 100 } } },
    })
    expect(await scheduler(`tasks/${task.id}`)).toMatchObject({ payload: task.payload })
    const [large] = await publish(100, { text: 'x'.repeat(261_000) })
    expect(large.payload.data).toEqual({ omitted_bytes: expect.any(Number) })
    await api.db.query(`UPDATE subscriptions SET expires_at = now() - interval '1 ms' WHERE key = $1`, [id])
    expect(await publish(100)).toEqual([])
  })

  it('of another server belongs to the principal that it names, and narrows its events by the arguments', async () => {
    const own = { name: 'comment.created', arguments: { document: 'doc_1' }, url: callback(), secret }
    const [ada, bob] = await Promise.all(
      ['ada', 'bob'].map(async principal => (await subscribe({ ...own, principal })).body.id),
    )
    expect(ada).not.toBe(bob)
    const publish = async (document: string) =>
      (await call('POST', '/api/events', { topic: 'comment.created', payload: { document } })).body.tasks
    expect((await publish('doc_2')).length).toBe(0)
    const [task, ...others] = await publish('doc_1')
    expect([task.payload.name, task.payload.data, others.length]).toEqual(['comment.created', { document: 'doc_1' }, 1])
    expect((await call('POST', `${path}/unsubscribe`, { ...own, secret: undefined, principal: 'eve' })).status).toBe(
      404,
    )
    const filtered = { ...own, principal: 'ada', topic: 'comment.*', filter: [], url: callback() }
    expect((await subscribe(filtered)).status).toBe(200)
    expect((await publish('doc_2')).length).toBe(1)
    const narrower = [{ path: 'document', op: 'eq', value: 'doc_3' }]
    expect((await subscribe({ ...filtered, filter: narrower })).status).toBe(200)
    expect([(await publish('doc_2')).length, (await publish('doc_3')).length]).toEqual([0, 1])
  })

  it('is no endpoint of a URL group of QStash', async () => {
    const body = aReminder({ name: 'topic', arguments: { topic: 'group' } })
    const { subscription_id } = (await subscribe(body)).body
    const group = '/v2/topics/group'
    const qstash = (method: string, to: string, endpoints: object[] | undefined) =>
      api.send(method, to, endpoints && JSON.stringify({ endpoints }), { Authorization: `Bearer ${caller.apiKey}` })
    expect((await qstash('GET', group, undefined)).status).toBe(404)
    const add = (endpoint: object) => qstash('POST', `${group}/endpoints`, [{ name: 'it', ...endpoint }])
    for (const url of [body.url, 'https://other.example.com/']) expect((await add({ url })).status).toBe(200)
    expect(await scheduler(`subscriptions/${subscription_id}`)).toMatchObject({ url: body.url })
    expect((await qstash('DELETE', group, undefined)).status).toBe(200)
    expect(await subscriptions()).toHaveLength(1)
  })

  it('changes its secret with both signing for a day, and keeps the verified callback', async () => {
    const body = aReminder()
    const { subscription_id } = (await subscribe(body)).body
    const next = newSecret(64)
    for (let i = 0; i < 2; i++) expect((await subscribe({ ...body, secret: next })).status).toBe(200)
    const { data } = await scheduler(`subscriptions/${subscription_id}/signing-secrets`)
    expect(data.map((one: Json) => [one.secret, one.expires_at !== null])).toEqual([
      [next, false],
      [secret, true],
    ])
    expect((await subscribe({ ...aReminder({ url: body.url }), arguments: { at: later } })).status).toBe(200)
    expect(challenges.filter(({ url }) => url === body.url)).toHaveLength(1)
  })

  it('says how its calls have ended', async () => {
    const body = aReminder()
    const { subscription_id, delivery_status } = (await subscribe(body)).body
    expect(delivery_status).toMatchObject({ active: true, last_error: null, failed_since: null })
    const [{ id: taskId }] = (
      await api.db.query('SELECT task_id AS id FROM task_requests WHERE subscription_id = $1', [
        fromId('sub', subscription_id),
      ])
    ).rows
    await api.db.query(
      `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, response_status)
       SELECT uuid_v7(clock_timestamp()), workspace_id, task_id, 2, source, 'failed', now(), now(), now() + interval '1 second', 503
       FROM runs WHERE task_id = $1`,
      [taskId],
    )
    await api.db.query(`UPDATE subscriptions SET paused_reason = 'failing' WHERE id = $1`, [
      fromId('sub', subscription_id),
    ])
    expect((await subscribe(body)).body.delivery_status).toEqual({
      ...{
        active: true,
        last_delivery_at: expect.any(String),
        last_error: 'http_5xx',
        failed_since: expect.any(String),
      },
    })
  })

  it('ends with its API key, and lasts no longer', async () => {
    const { workspaceId, owner, apiKey } = await anOrganization(api, 'unlimited')
    const session = { ...owner.session, 'X-Workspace-Id': workspaceId }
    const keys = `/api/v1/workspaces/${workspaceId}/api-keys`
    const made = (
      await api.send('POST', keys, { name: 'Agent', scopes: ['read', 'subscription.write', 'task.create'] }, session)
    ).body
    expect((await subscribe(aReminder({ ttl_ms: null }), made.key)).body.refresh_before).toBeNull()
    expect((await api.send('DELETE', `${keys}/${made.id}`, undefined, session)).status).toBe(204)
    const count = async () =>
      (await api.send('GET', '/api/v1/scheduler/subscriptions', undefined, session)).body.data.length
    expect(await count()).toBe(0)
    const { body: next } = await api.send('POST', keys, { name: 'Next' }, session)
    const { 'X-Api-Key': former } = await apiKey({})
    const shared = { ...aReminder({ principal: 'ada', name: 'a', arguments: {}, ttl_ms: null }) }
    for (const key of [former, next.key]) expect((await subscribe(shared, key)).status).toBe(200)
    expect((await api.send('DELETE', `${keys}/${next.id}`, undefined, session)).status).toBe(204)
    expect(await count()).toBe(0)
    const expiresAt = new Date(Date.now() + 600_000)
    const { 'X-Api-Key': short } = await apiKey({ expiresAt })
    expect((await subscribe(aReminder({ ttl_ms: null }), short)).body.refresh_before).toBe(expiresAt.toISOString())
    const bySession = await api.send('POST', path, aReminder({ ttl_ms: null }), session)
    expect(Date.parse(bySession.body.refresh_before)).toBeLessThan(Date.now() + 3_700_000)
  })

  it('does not begin with a key that another process has revoked, while this one has the key in its cache', async () => {
    expect((await subscribe(aReminder())).status).toBe(200)
    const text = 'UPDATE api_keys SET revoked_at = now() WHERE workspace_id = $1'
    await api.db.query(text, [fromId('ws', caller.workspaceId)])
    const body = aReminder({ ttl_ms: null })
    expect((await subscribe(body)).status).toBe(401)
    const { rows } = await api.db.query('SELECT active FROM subscriptions WHERE url = $1', [body.url])
    expect(rows).toEqual([{ active: false }])
  })
})

describe('refuses, without a call', () => {
  it.each<[string, object, string | undefined]>([
    ['an http URL', { url: 'http://agent.example.com/' }, 'url'],
    ['a private address', { url: 'https://192.168.0.1/' }, 'url'],
    ['a loopback address', { url: 'http://127.0.0.1:1/' }, 'url'],
    ['the metadata service', { url: 'https://169.254.169.254/latest' }, 'url'],
    ['an address of IPv6', { url: 'https://[fd00::1]/' }, 'url'],
    ['a user in the URL', { url: 'https://ada:x@agent.example.com/' }, 'url'],
    ['a fragment', { url: 'https://agent.example.com/#a' }, 'url'],
    ['a secret of the workspace in the URL', { url: 'https://agent.example.com/{{ secrets.KEY }}' }, 'url'],
    ['another scheme', { url: 'ftp://agent.example.com/' }, 'url'],
    ['a long URL', { url: `https://agent.example.com/${'x'.repeat(2_100)}` }, 'url'],
    ['no secret', { secret: undefined }, 'secret'],
    ['a short secret', { secret: newSecret(23) }, 'secret'],
    ['a long secret', { secret: newSecret(65) }, 'secret'],
    ['a secret that is no base64', { secret: `whsec_${'!'.repeat(40)}` }, 'secret'],
    ['a past time', { arguments: { at: '2020-01-01T00:00:00Z' } }, 'arguments.at'],
    ['a time without a zone', { arguments: { at: '2090-01-01T09:00:00' } }, 'arguments.at'],
    ['a time and a cron expression', { arguments: { at: later, cron: '* * * * *' } }, 'arguments.at'],
    ['a wrong cron expression', { arguments: { cron: '61 * * * *' } }, 'arguments.cron'],
    ['an unknown zone', { arguments: { cron: '* * * * *', timezone: 'Mars' } }, 'arguments.timezone'],
    ['an unknown argument', { arguments: { at: later, url: 'x' } }, 'arguments.url'],
    ['oversized arguments', { arguments: { at: later, note: 'x'.repeat(9_000) } }, 'arguments'],
    ['a NUL in the arguments', { arguments: { at: later, note: '\0' } }, undefined],
    ['an unknown event', { name: 'everything' }, 'name'],
    ['a topic that no event can have', { name: 'topic', arguments: { topic: '@task.dead' } }, 'arguments.topic'],
    [
      'an id of another kind',
      { name: 'task.dead', arguments: { task_id: toId('run', randomUUID()) } },
      'arguments.task_id',
    ],
    ['a filter of its own events', { filter: [] }, 'filter'],
    ['an argument that is no condition', { principal: 'ada', name: 'a', arguments: { a: {} } }, 'arguments'],
    ['a lifetime of nothing', { ttl_ms: 0 }, 'ttl_ms'],
  ])('%s', async (_, fields, field) => {
    const { status, body } = await subscribe(aReminder(fields))
    expect([status, body.errors?.map((error: Json) => error.path)]).toEqual([400, field && [field]])
    expect(await subscriptions()).toEqual([])
  })

  it('what the key may not see or schedule', async () => {
    const { apiKey } = await anOrganization(api, 'unlimited')
    const { 'X-Api-Key': key } = await apiKey({ scopes: ['subscription.write'] })
    for (const [name, given] of Object.entries({
      ...{ 'reminder.due': { at: later }, 'task.dead': {}, 'run.failed': {}, 'cron.missed': {} },
    }))
      expect([name, (await subscribe(aReminder({ name, arguments: given }), key)).body.code]).toEqual([
        name,
        'forbidden',
      ])
    const { 'X-Api-Key': publisher } = await apiKey({ scopes: ['publish'] })
    expect((await subscribe(aReminder(), publisher)).status).toBe(403)
  })

  it('a key of another workspace, another key of the same, and more than a hundred of one principal', async () => {
    const body = aReminder()
    await subscribe(body)
    const stranger = await api.signUp()
    expect((await unsubscribe(body, stranger.apiKey)).status).toBe(404)
    const { rows } = await api.db.query(
      'SELECT workspace_id AS ws, created_by AS key FROM subscriptions WHERE url = $1',
      [body.url],
    )
    await api.db.query(
      `INSERT INTO subscriptions (id, workspace_id, topic, active, url, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, created_by, mcp)
       SELECT gen_random_uuid(), $1, '@task.dead', true, 'https://x.example.com/', 0, 'fixed', 1, 1, 1, $2, '{}' FROM generate_series(1, 99)`,
      [rows[0].ws, rows[0].key],
    )
    expect((await subscribe(aReminder())).body).toMatchObject({ code: 'conflict', limit: 'subscriptions', max: 100 })
  })
})

it('counts the subscriptions of a principal one after another', async () => {
  const body = aReminder()
  await subscribe(body)
  await api.db.query(
    `INSERT INTO subscriptions (id, workspace_id, topic, active, url, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, created_by, mcp)
     SELECT gen_random_uuid(), workspace_id, '@task.dead', true, 'https://x.example.com/', 0, 'fixed', 1, 1, 1, created_by, '{}'
     FROM subscriptions, generate_series(1, 94) WHERE url = $1`,
    [body.url],
  )
  const more = Array.from({ length: 20 }, (_, n) => ({ ...body, arguments: { at: later, note: `${n}` } })) // of a verified callback
  const answers = await Promise.all(more.map(one => subscribe(one)))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(200), ...Array(15).fill(409)])
})

it('challenges a host for a principal at most 20 times at once, unless its callbacks want the calls', async () => {
  const own = { principal: 'ada', name: 'a', arguments: {}, secret }
  const refused = async (url: string, principal = 'ada') => {
    reactions.set(url, () => ({ body: 'ok' }))
    return (await subscribe({ ...own, principal, url })).body.code
  }
  const names = async () => (await api.db.query('SELECT name FROM throttles')).rows.map(({ name }) => name)
  expect((await subscribe({ ...own, url: callback() })).status).toBe(200)
  const before = await names()
  expect(await refused('https://other.example.com/a')).toBe('callback_refused')
  const added = (await names()).filter(name => !before.includes(name)) // then as if 19 more had been refused
  await api.db.query(`UPDATE throttles SET free_at = free_at + interval '570 s' WHERE name = ANY ($1)`, [added])
  const { status, body, headers } = await subscribe({ ...own, url: 'https://other.example.com/b' })
  expect([status, body.code, Number(headers.get('Retry-After')) > 0]).toEqual([429, 'rate_limited', true])
  expect(await refused('https://other.example.com/c', 'bob')).toBe('callback_refused')
  expect((await subscribe({ ...own, url: callback() })).status).toBe(200)
})

describe('a callback that does not repeat the challenge is refused, and forgotten:', () => {
  it.each<[string, string, Reaction]>([
    ['another text', 'challenge_failed', () => ({ body: 'ok' })],
    ['an old challenge', 'challenge_failed', () => ({ body: JSON.stringify(challenges[0] ?? { challenge: 'x' }) })],
    ['a part of it', 'challenge_failed', challenge => ({ body: JSON.stringify({ challenge: challenge.slice(1) }) })],
    ['a list', 'challenge_failed', challenge => ({ body: JSON.stringify({ challenge: [challenge, challenge] }) })],
    ['a redirect', 'http_4xx', () => ({ errorCode: 'http_status', responseStatus: 302 })],
    ['a failure', 'http_5xx', () => ({ errorCode: 'http_status', responseStatus: 500 })],
    ['no answer', 'timeout', () => ({ errorCode: 'timeout' })],
    ['no certificate', 'tls_error', () => ({ errorCode: 'tls' })],
    ['a private address behind its name', 'connection_refused', () => ({ errorCode: 'blocked_address' })],
  ])('%s', async (_, reason, reaction) => {
    const body = aReminder()
    reactions.set(body.url, reaction)
    const { status, body: problem } = await subscribe(body)
    expect([status, problem.code, problem.reason]).toEqual([409, 'callback_refused', reason])
    expect(problem.detail).not.toContain('302')
    expect([await subscriptions(), (await scheduler('tasks?state=pending')).data]).toEqual([[], []])
    reactions.set(body.url, repeats)
    expect((await subscribe(body)).status).toBe(200)
  })

  it('an expired one is called no more, and verified again only when it was swept', async () => {
    const body = aReminder({ name: 'topic', arguments: { topic: 'late' } })
    const { subscription_id } = (await subscribe(body)).body
    await ended(subscription_id)
    expect((await call('POST', '/api/events', { topic: 'late', payload: {} })).body.tasks).toEqual([])
    expect((await subscribe(body)).body.subscription_id).toBe(subscription_id)
    expect((await call('POST', '/api/events', { topic: 'late', payload: {} })).body.tasks).toHaveLength(1)
  })
})
