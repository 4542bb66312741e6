import { fromId, toId } from '@belfry/domain/id'
import { beforeAll, expect, it } from 'vitest'
import { type Json, useApi } from './setup.ts'

const api = useApi({ QSTASH_API: 'on' })
const target = 'https://example.com/hook'

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.send(method, path, body, { Authorization: `Bearer ${api.caller.apiKey}`, ...headers })

type Message = { to?: string; queue?: string; headers?: Record<string, string> }

async function publish({ to = target, queue, headers = {} }: Message): Promise<string> {
  const path = queue === undefined ? `/v2/publish/${to}` : `/v2/enqueue/${queue}/${to}`
  const { status, body } = await call('POST', path, 'x', { 'Upstash-Delay': '1h', ...headers })
  expect([status, body.error]).toEqual([201, undefined])
  return [body].flat()[0].messageId
}

const uuidOf = (id: string) => String(fromId('msg', id))
const dlqIdOf = (id: string) => toId('dlq', uuidOf(id))

async function kill(ids: readonly string[]): Promise<void> {
  const text = `UPDATE tasks SET state = 'dead', finished_at = now() WHERE id = ANY ($1::uuid[])`
  await api.db.query(text, [ids.map(uuidOf)])
}

/** Returns which of some messages have been neither cancelled nor settled. */
async function openOf(ids: readonly string[]): Promise<string[]> {
  const text = `SELECT id FROM tasks WHERE id = ANY ($1::uuid[]) AND state <> 'cancelled' AND settled_at IS NULL ORDER BY id`
  const { rows } = await api.db.query<{ id: string }>(text, [ids.map(uuidOf)])
  return rows.map(({ id }) => toId('msg', id))
}

beforeAll(async () => {
  for (const i of [0, 1, 2]) {
    const endpoints = [{ url: target, name: `endpoint-${i}` }]
    expect((await call('POST', `/v2/topics/group-${i}/endpoints`, { endpoints })).status).toBe(200)
  }
})

/** Each filter: a message that it can select, and the value that selects the message with an id. `mark`: of the messages of a case. */
const filters: Record<
  string,
  [message: (i: number, mark: string) => Message, value: (i: number, id: string, mark: string) => string]
> = {
  messageId: [() => ({}), (_, id) => id],
  messageIds: [() => ({}), (_, id) => id],
  dlqId: [() => ({}), (_, id) => dlqIdOf(id)],
  dlqIds: [() => ({}), (_, id) => dlqIdOf(id)],
  url: [i => ({ to: `https://example.com/a,b?c=${i},d` }), i => `https://example.com/a,b?c=${i},d`],
  host: [i => ({ to: `https://Host-${i}.example.com?x` }), i => `host-${i}.example.com`],
  path: [i => ({ to: `https://example.com/x,y/${i}?z` }), i => `/x,y/${i}`],
  topicName: [i => ({ to: `group-${i}` }), i => `group-${i}`],
  endpointName: [i => ({ to: `group-${i}` }), i => `endpoint-${i}`],
  scheduleId: [i => ({ headers: { 'Upstash-Schedule-Id': `s${i}` } }), i => `s${i}`],
  callerIp: [i => ({ headers: { 'X-Forwarded-For': `192.0.2.${i}` } }), i => `192.0.2.${i}`],
  callerIP: [i => ({ headers: { 'X-Forwarded-For': `192.0.2.${i}` } }), i => `192.0.2.${i}`],
  queueName: [i => ({ queue: `q${i}` }), i => `q${i}`],
  flowControlKey: [
    i => ({ headers: { 'Upstash-Flow-Control-Key': `k${i}`, 'Upstash-Flow-Control-Value': 'parallelism=1' } }),
    i => `k${i}`,
  ],
  label: [(i, mark) => ({ headers: { 'Upstash-Label': `other,${mark}:${i}` } }), (i, _, mark) => `${mark}:${i}`],
}

const idsIn = (list: Json) => [...new Set(list.map(({ messageId }: Json) => messageId))].sort()

/** Each endpoint that has filters: whether it acts on dead letters, and what its answer says of the selected messages. */
const doors: Record<string, [isOfDead: boolean, selected: (body: Json, ids: string[]) => unknown]> = {
  'GET /v2/events': [false, ({ events }) => idsIn(events)],
  'GET /v2/logs': [false, ({ logs }) => idsIn(logs)],
  'DELETE /v2/messages': [false, ({ cancelled }, ids) => ids.slice(0, cancelled)],
  'GET /v2/dlq': [true, ({ messages }) => idsIn(messages)],
  'DELETE /v2/dlq': [true, ({ deleted }, ids) => ids.slice(0, deleted)],
  'POST /v2/dlq/retry': [true, ({ responses }, ids) => ids.slice(0, responses.length)],
}

type Form = (name: string, values: string[]) => { query: string; body?: unknown }

const forms: readonly Form[] = [
  (name, values) => ({ query: values.map(value => `${name}=${encodeURIComponent(value)}`).join('&') }),
  (name, values) => ({ query: `${name}=${encodeURIComponent(values.join())}` }),
  (name, values) => ({ query: '', body: { [name]: values } }),
]

it.each(Object.keys(doors))('%s: two values of each filter select the messages that have one of them', async door => {
  const [isOfDead, selected] = doors[door] as (typeof doors)[string]
  const [method = '', path = ''] = door.split(' ')
  const offered = forms.slice(0, method === 'GET' ? 2 : 3)
  for (const [n, [name, [message, value]]] of Object.entries(filters).entries()) {
    const mark = `${door.replace(/\W+/g, '-')}:${name}`
    const ids: string[] = []
    for (const i of [0, 1, 2]) {
      const { headers = {}, ...rest } = message(i, mark)
      const labels = [mark, headers['Upstash-Label']].filter(Boolean).join()
      ids.push(await publish({ ...rest, headers: { ...headers, 'Upstash-Label': labels } }))
    }
    if (isOfDead) await kill(ids)
    const values = [0, 1].map(i => value(i, ids[i] ?? '', mark))
    // Over the endpoints, each filter has each form.
    const form = offered[(n + Object.keys(doors).indexOf(door)) % offered.length] as Form
    const { query, body } = form(name, values)
    // The mark leaves out messages of the other endpoints; with two values of a label it would select too much.
    const only = name === 'label' ? '' : `&label=${mark}`
    const answer = await call(method, `${path}?${query}${only}`, body)
    const [first = '', second = '', third = ''] = ids
    expect([mark, answer.status, selected(answer.body, ids)]).toEqual([mark, 200, [first, second]])
    if (method !== 'GET') expect([mark, await openOf(ids)]).toEqual([mark, [third]])
    await call('DELETE', `/v2/messages?messageIds=${ids.join()}`)
    await call('DELETE', `/v2/dlq?dlqIds=${ids.map(dlqIdOf).join()}`)
  }
})

it('selects what matches all of several filters, also when they concern the same', async () => {
  const both = { headers: { 'Upstash-Label': 'both' } }
  const [one = '', two = ''] = [await publish({ ...both, queue: 'q1' }), await publish({ ...both, to: `${target}/2` })]
  const select = async (query: string) => (await call('GET', `/v2/events?label=both&${query}`)).body.events.length
  expect(await select(`queueName=q1&url=${target}`)).toBe(1)
  expect(await select(`queueName=q1&url=${target}/2`)).toBe(0)
  expect(await select('queueName=q1&flowControlKey=q1')).toBe(0)
  expect(await select(`messageId=${one}&messageIds=${one},${two}`)).toBe(1)
  expect(await select(`messageId=${one}&messageIds=${two}`)).toBe(0)
  expect(await select('api=llm')).toBe(0)
  expect((await call('DELETE', '/v2/messages?label=both&queueName=q1&flowControlKey=q1')).body).toEqual({
    cancelled: 0,
  })
  expect((await call('DELETE', '/v2/messages?label=both')).body).toEqual({ cancelled: 2 })
})

it('cancels as many messages as `count` says, the newest first', async () => {
  const ids: string[] = []
  for (let i = 0; i < 6; i++) ids.push(await publish({ headers: { 'Upstash-Label': 'counted' } }))
  const cancel = async (query: string, body?: unknown) => (await call('DELETE', `/v2/messages${query}`, body)).body
  expect(await cancel('?count=1&label=counted')).toEqual({ cancelled: 1 })
  expect(await openOf(ids)).toEqual(ids.slice(0, 5))
  expect(await cancel('?label=counted', { count: 2 })).toEqual({ cancelled: 2 })
  expect(await cancel(`?messageIds=${ids.join()}&count=1`)).toEqual({ cancelled: 1 })
  expect(await openOf(ids)).toEqual(ids.slice(0, 2))
  expect(await cancel('?count=1')).toEqual({ cancelled: 1 }) // of all
  for (const count of ['0', '-1', '1.5', 'x', '']) {
    expect(await cancel(`?label=counted&count=${count}`)).toEqual({ error: expect.stringContaining('count') })
  }
  expect(await cancel('?label=counted&count=100')).toEqual({ cancelled: 1 })
  expect(await cancel('?label=counted')).toEqual({ cancelled: 0 })
})

it.each(['DELETE /v2/dlq', 'POST /v2/dlq/retry'])('%s walks through all in steps of `count`', async door => {
  const [method = '', path = ''] = door.split(' ')
  const label = door.replace(/\W+/g, '-')
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push(await publish({ headers: { 'Upstash-Label': label } }))
  await kill(ids)
  const steps: number[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { body }: Json = await call(method, `${path}?label=${label}&count=2&cursor=${cursor}`)
    steps.push(body.deleted ?? body.responses.length)
    cursor = body.cursor
  }
  expect(steps).toEqual([2, 2, 1])
  expect(await openOf(ids)).toEqual([])
  await call('DELETE', '/v2/messages')
})

it('acts on all named dead letters, of any number, size and age', async () => {
  const item = { destination: target, headers: { 'Upstash-Delay': '1h' }, body: 'x'.repeat(30_000) }
  const { body } = await call('POST', '/v2/batch', Array(120).fill(item))
  const ids: string[] = body.map(({ messageId }: Json) => messageId)
  await kill(ids)
  // More than one request scans.
  await api.db.query(
    `INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
     SELECT uuid_v7(now() + interval '1 minute'), workspace_id, source, 'dead', now(), now(), now()
     FROM tasks CROSS JOIN generate_series(1, 4100) WHERE id = $1`,
    [uuidOf(ids[0] ?? '')],
  )
  const dlqIds = ids.map(dlqIdOf)
  expect((await call('GET', `/v2/dlq?dlqIds=${dlqIds.slice(0, 3).join()}`)).body.messages).toHaveLength(3)
  expect((await call('GET', `/v2/dlq?messageId=${ids[5]}`)).body.messages).toMatchObject([{ messageId: ids[5] }])
  expect((await call('GET', `/v2/dlq/${dlqIds[7]}`)).body).toMatchObject({ messageId: ids[7] })
  expect((await call('DELETE', '/v2/dlq', { dlqIds })).body).toEqual({ deleted: 120 })
  expect((await call('GET', `/v2/dlq/${dlqIds[7]}`)).status).toBe(404)
  const tooMany = { dlqIds: Array(1_001).fill(dlqIds[0]) }
  expect((await call('POST', '/v2/dlq/retry', tooMany)).body).toEqual({ error: 'at most 1000 ids are allowed' })
})

it('refuses options that it would ignore: another order, and a retry with other options than its message', async () => {
  for (const path of ['/v2/events', '/v2/logs', '/v2/dlq']) {
    expect((await call('GET', `${path}?order=latestFirst`)).status).toBe(200)
    expect((await call('GET', `${path}?order=earliestFirst`)).status).toBe(501)
  }
  const id = await publish({})
  await kill([id])
  for (const path of [`/v2/dlq/retry/${dlqIdOf(id)}`, `/v2/dlq/retry?dlqIds=${dlqIdOf(id)}`]) {
    const refused = await call('POST', path, undefined, { 'Upstash-Retries': '0' })
    expect([refused.status, refused.body.error]).toEqual([501, expect.stringContaining('Upstash-Retries')])
  }
  const retried = await call('POST', `/v2/dlq/retry/${dlqIdOf(id)}`, undefined, { 'Upstash-Telemetry-Sdk': 'x' })
  expect(retried.body).toEqual({ messageId: expect.stringMatching(/^msg_/) })
})

it('refuses text that cannot be stored: in a batch, only the message with it', async () => {
  const item = (headers = {}) => ({ destination: target, headers: { 'Upstash-Delay': '1h', ...headers }, body: 'a\0' })
  const wrong = ['a\0', '\ud800'].flatMap(text => [
    item({ 'Upstash-Redact-Fields': `header[${text}]` }),
    { ...item(), destination: `${target}?${text}` },
    { ...item(), queue: text },
  ])
  const { body } = await call('POST', '/v2/batch', [item(), ...wrong])
  const error = expect.stringContaining('stored')
  expect(body).toEqual([{ messageId: expect.any(String), url: target }, ...wrong.map(() => ({ error }))])
  expect((await call('GET', `/v2/messages/${body[0].messageId}`)).body).toMatchObject({ body: 'a\0' })

  const named = (name: string) => ({ endpoints: [{ name, url: target }] })
  const refused: Array<[status: number, method: string, path: string, body?: unknown]> = [
    [404, 'GET', 'queues/%00'],
    [404, 'GET', 'topics/%00'],
    [404, 'GET', 'schedules/%00'],
    [404, 'GET', 'flowControl/%00'],
    [400, 'GET', 'events?label=%00'],
    [400, 'DELETE', 'messages', { url: '\0' }],
    [400, 'DELETE', 'topics/group/endpoints', { endpoints: [{ url: '\0' }] }],
    [400, 'POST', 'topics/group/endpoints', named('a\0')],
    [400, 'POST', 'topics/group/endpoints', named('\ud800')],
    [400, 'POST', 'topics/group/endpoints', named('x'.repeat(201))],
  ]
  for (const [status, method, path, sent] of refused)
    expect([path, sent, (await call(method, `/v2/${path}`, sent)).status]).toEqual([path, sent, status])
  await call('DELETE', '/v2/messages')
})

it('has one endpoint of a group for each URL, also when a name moves to the URL of another endpoint', async () => {
  const path = '/v2/topics/moved/endpoints'
  const [one, two] = [
    { name: 'one', url: `${target}/a` },
    { name: 'two', url: `${target}/b` },
  ]
  await call('POST', path, { endpoints: [one, two] })
  const moved = { endpoints: [{ ...one, url: two.url }] }
  const keys = `/api/v1/workspaces/${api.caller.workspaceId}/api-keys`
  const session = { Authorization: `Bearer ${api.caller.token}` }
  const scopes = ['subscription.read', 'subscription.write']
  const { key } = (await api.send('POST', keys, { name: 'K', scopes }, session)).body
  expect((await call('POST', path, moved, { Authorization: `Bearer ${key}` })).status).toBe(403)
  expect((await call('POST', path, moved)).status).toBe(200)
  expect((await call('GET', '/v2/topics/moved')).body.endpoints).toEqual(moved.endpoints)
  const swapped = { endpoints: [{ ...two, url: one.url }, one, { ...two, url: `${target}/c` }] }
  expect((await call('POST', path, swapped)).status).toBe(200)
  expect((await call('GET', '/v2/topics/moved')).body.endpoints).toEqual([one, swapped.endpoints[2]])
})

it('redacts the callback of a redacted message, which repeats the message', async () => {
  const redacted = { 'Upstash-Redact-Fields': 'header[x]', 'Upstash-Forward-X': 'secret' }
  const id = await publish({ headers: { ...redacted, 'Upstash-Failure-Callback': `${target}/redacted` } })
  await kill([id])
  const { events } = (await call('GET', `/v2/events?url=${target}/redacted`)).body
  const { messageId } = events[0]
  const message = (await call('GET', `/v2/messages/${messageId}`)).body
  await kill([messageId])
  const [dead] = (await call('GET', `/v2/dlq?messageId=${messageId}`)).body.messages
  const bodies = [message.body, dead.body, Buffer.from(events[0].body, 'base64').toString()]
  expect(bodies).toEqual(Array(3).fill(expect.stringMatching(/^REDACTED:/)))
  const { rows } = await api.db.query('SELECT payload FROM task_requests WHERE task_id = $1', [uuidOf(messageId)])
  expect(rows[0].payload).toContain('secret')
})
