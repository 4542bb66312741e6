import { setTimeout as sleep } from 'node:timers/promises'
import { fromId } from '@belfry/domain/id'
import { expect, it, onTestFinished } from 'vitest'
import { burstUntilRefused, type Caller, useApi } from './setup.ts'

const api = useApi({
  QSTASH_API: 'on',
  TIERS: JSON.stringify({
    free: { executions: 0 },
    startup: { requests_per_second: 3 },
    scaleup: { requests_per_second: 100_000 },
    unicorn: { requests_per_second: 100_000, pending_tasks: 3, fan_out_per_minute: 2 },
  }),
})
const target = 'https://example.com/hook'

async function signUp(tier: string): Promise<Caller> {
  const caller = await api.signUp()
  const path = `/api/v1/organizations/${caller.organizationId}/subscription`
  const { status } = await api.send('PUT', path, { tier }, { Authorization: `Bearer ${caller.token}` })
  expect(status).toBe(200)
  return caller
}
const as =
  (caller: Caller) =>
  (method: string, path: string, body?: string, headers: Record<string, string> = {}) =>
    api.send(method, path, body, { Authorization: `Bearer ${caller.apiKey}`, ...headers })

it('answers the burst limit with the headers of the burst limit', async () => {
  const call = as(await signUp('startup'))
  const startedAt = Date.now() / 1000
  const answers = await burstUntilRefused(10, () => call('GET', '/v2/queues'))
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.body).toEqual({ error: expect.any(String) })
  expect(refused?.headers.get('Burst-RateLimit-Limit')).toBe('3')
  expect(refused?.headers.get('Burst-RateLimit-Remaining')).toBe('0')
  expect(Number(refused?.headers.get('Burst-RateLimit-Reset'))).toBeGreaterThan(startedAt)
  expect(refused?.headers.get('RateLimit-Limit')).toBeNull()
})

it('answers a used-up month with the headers of the daily limit, unless the message is for later', async () => {
  const call = as(await signUp('free'))
  const refused = await call('POST', `/v2/publish/${target}`, 'x')
  expect([refused.status, refused.headers.get('RateLimit-Limit')]).toEqual([429, '0'])
  expect(refused.headers.get('RateLimit-Remaining')).toBe('0')
  expect(Number(refused.headers.get('RateLimit-Reset'))).toBeGreaterThan(Date.now() / 1000)
  expect((await call('POST', `/v2/publish/${target}`, 'x', { 'Upstash-Delay': '1h' })).status).toBe(201)
})

it('answers other quotas with 412, and a large body with 413', async () => {
  const call = as(await signUp('unicorn'))
  const publish = (body = 'x') => call('POST', `/v2/publish/${target}`, body, { 'Upstash-Delay': '1h' })
  for (let i = 0; i < 3; i++) expect((await publish()).status).toBe(201)
  expect(await publish()).toMatchObject({ status: 412, body: { error: expect.stringContaining('pending tasks') } })
  expect((await publish('x'.repeat(256 * 1024 + 1))).status).toBe(413)
  expect((await publish('x'.repeat(1024 * 1024 + 1))).status).toBe(413)
})

it('answers a repeated message as such, also at the limit of pending tasks', async () => {
  const call = as(await signUp('unicorn'))
  const headers = (id: string) => ({ 'Upstash-Delay': '1h', 'Upstash-Deduplication-Id': id })
  const publish = (id: string) => call('POST', `/v2/publish/${target}`, 'x', headers(id))
  for (const id of ['a', 'b', 'c']) expect((await publish(id)).status).toBe(201)
  expect(await publish('a')).toMatchObject({ body: { deduplicated: true } })
  expect((await publish('d')).status).toBe(412)
})

it('forwards Content-Encoding, which describes the body, and no header of the connection', async () => {
  const call = as(await signUp('scaleup'))
  const headers = {
    'Upstash-Delay': '1h',
    'Upstash-Forward-Content-Encoding': 'gzip',
    'Upstash-Forward-TE': 'trailers',
  }
  const { body } = await call('POST', `/v2/publish/${target}`, 'x', headers)
  const message = await call('GET', `/v2/messages/${body.messageId}`)
  expect(message.body.header).toMatchObject({ 'Content-Encoding': ['gzip'] })
  expect(Object.keys(message.body.header)).not.toContain('Te')
})

it('refuses a batch with a message of a workflow as a whole', async () => {
  const call = as(await signUp('scaleup'))
  const item = (headers: Record<string, unknown>) => ({
    destination: target,
    headers: { 'Upstash-Delay': '1h', ...headers },
  })
  for (const headers of [{ 'Upstash-Workflow-Init': 'true' }, { 'upstash-workflow-runid': ['wfr_1'] }]) {
    const answer = await call('POST', '/v2/batch', JSON.stringify([item({}), item(headers)]))
    expect(answer).toMatchObject({ status: 501, body: { error: expect.stringContaining('Workflow') } })
  }
  expect((await call('GET', '/v2/events')).body.events).toEqual([])
})

it('refuses a schedule in a batch, and stores the messages beside it', async () => {
  const call = as(await signUp('scaleup'))
  const items = [{}, { 'Upstash-Cron': '0 0 1 1 *' }].map(headers => ({ destination: target, headers }))
  const { body } = await call('POST', '/v2/batch', JSON.stringify(items))
  expect(body).toMatchObject([{ url: target }, { error: expect.stringContaining('/v2/schedules') }])
})

it('stores all good messages of a batch or none, each once', async () => {
  const call = as(await signUp('unicorn'))
  const item = (body: string, headers: Record<string, string> = {}) => ({
    destination: target,
    headers: { 'Upstash-Delay': '1h', ...headers },
    body,
  })
  const batch = (...items: unknown[]) => call('POST', '/v2/batch', JSON.stringify(items))
  const refused = await batch(item('1'), item('2'), item('3'), item('4'))
  expect(refused).toMatchObject({ status: 412, body: { error: expect.stringContaining('pending tasks') } })
  expect((await call('GET', '/v2/events')).body.events).toEqual([])
  const [b, a] = [{ 'Upstash-Deduplication-Id': 'b' }, { 'Upstash-Deduplication-Id': 'a' }]
  const { body } = await batch(item('1', b), item('2', a), { destination: 'ftp://x' }, item('3', b))
  expect(body).toMatchObject([{ url: target }, { url: target }, { error: expect.any(String) }, { deduplicated: true }])
  expect(body[3].messageId).toBe(body[0].messageId)
  expect(await batch(item('4', a))).toMatchObject({ status: 200, body: [{ messageId: body[1].messageId }] })
  const { events } = (await call('GET', '/v2/events')).body
  expect(events.map(({ messageId }: { messageId: string }) => messageId)).toEqual([
    body[1].messageId,
    body[0].messageId,
  ])
})

it('refuses a batch of more than 1,000, and cancels any number of messages', async () => {
  const call = as(await signUp('scaleup'))
  const messages = (count: number) =>
    JSON.stringify(
      Array.from({ length: count }, () => ({ destination: target, headers: { 'upstash-delay': '1h' }, body: 'x' })),
    )
  expect((await call('POST', '/v2/batch', messages(1_001))).status).toBe(400)
  for (let i = 0; i < 2; i++) expect((await call('POST', '/v2/batch', messages(1_000))).body).toHaveLength(1_000)
  expect((await call('POST', '/v2/batch', messages(60))).body).toHaveLength(60)
  const pages: number[] = []
  for (let cursor = ''; ; ) {
    const { body } = await call('GET', `/v2/events?count=1000${cursor}`)
    pages.push(body.events.length)
    if (body.cursor === undefined) break
    cursor = `&cursor=${body.cursor}`
  }
  expect(pages).toEqual([...Array(20).fill(100), 60])
  expect((await call('DELETE', '/v2/messages')).body).toEqual({ cancelled: 2_060 })
}, 60_000)

it('refuses more than 5,000 messages or 16 MiB for a request', async () => {
  const call = as(await signUp('scaleup'))
  const endpoints = Array.from({ length: 101 }, (_, i) => ({ url: `${target}/${i}` }))
  await call('POST', '/v2/topics/group/endpoints', JSON.stringify({ endpoints }))
  const batch = (count: number, body: string) =>
    call('POST', '/v2/batch', JSON.stringify(Array(count).fill({ destination: 'group', body })))
  const body = 'x'.repeat(100_000)
  const refused = [call('POST', '/v2/publish/group', body + body), batch(2, body), batch(50, 'x')]
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([413, 413, 413])
  expect((await call('GET', '/v2/events')).body.events).toEqual([])
  expect((await call('POST', '/v2/publish/group', 'x')).body).toHaveLength(101)
})

it('lists more queues than one page of the database has', async () => {
  const caller = await signUp('scaleup')
  const workspace = `(SELECT workspace_id FROM api_keys ORDER BY created_at DESC LIMIT 1)`
  await api.db.query(`
    INSERT INTO queues (id, workspace_id, name) SELECT gen_random_uuid(), ${workspace}, 'q' || n FROM generate_series(1, 1100) n`)
  expect((await as(caller)('GET', '/v2/queues')).body).toHaveLength(1_100)
})

it('deletes a queue with the messages that wait in it, unless a schedule names the queue', async () => {
  const caller = await signUp('scaleup')
  const call = as(caller)
  const enqueue = async (delay: string) => {
    const { body } = await call('POST', `/v2/enqueue/q/${target}`, 'x', { 'Upstash-Delay': delay })
    return String(fromId('msg', body.messageId))
  }
  await call('POST', '/v2/queues', '{"queueName":"q","paused":true}')
  const ids = [await enqueue('0s'), await enqueue('1h'), await enqueue('0s'), await enqueue('0s')]
  const [, , retrying, inFlight] = ids
  await api.db.query(`UPDATE tasks SET state = 'retrying', attempts = 1 WHERE id = $1`, [retrying])
  const claimed = `state = 'processing', attempts = 1, run_id = uuid_v7(now()), lease_until = now() + interval '1 hour'`
  await api.db.query(`UPDATE tasks SET ${claimed} WHERE id = $1`, [inFlight])
  const states = async () => {
    const { rows } = await api.db.query(`SELECT state FROM tasks WHERE id = ANY ($1::uuid[]) ORDER BY id`, [ids])
    return rows.map(({ state }) => state)
  }
  const waiting = ['pending', 'pending', 'retrying', 'processing']
  await call('POST', `/v2/schedules/${target}`, '', {
    'Upstash-Cron': '0 0 1 1 *',
    'Upstash-Schedule-Id': 's',
    'Upstash-Queue-Name': 'q',
  })
  expect((await call('DELETE', '/v2/queues/q')).status).toBe(412)
  expect(await states()).toEqual(waiting)
  await call('DELETE', '/v2/schedules/s')

  const path = `/api/v1/workspaces/${caller.workspaceId}/api-keys`
  const session = { Authorization: `Bearer ${caller.token}` }
  const { key } = (await api.send('POST', path, { name: 'K', scopes: ['queue.delete'] }, session)).body
  expect((await as({ ...caller, apiKey: key })('DELETE', '/v2/queues/q')).status).toBe(403)
  expect(await states()).toEqual(waiting)

  expect((await call('DELETE', '/v2/queues/q')).status).toBe(200)
  expect(await states()).toEqual(['cancelled', 'cancelled', 'dead', 'processing'])
  expect((await call('DELETE', '/v2/queues/q')).status).toBe(404)
})

it('sends messages at once whose delay passes while they wait for the database', async () => {
  const call = as(await signUp('scaleup'))
  const holder = await api.db.connect()
  onTestFinished(() => holder.release(true)) // unlocks in any case
  await holder.query('BEGIN; LOCK TABLE tasks IN SHARE MODE')
  const delay = { 'Upstash-Delay': '2s' }
  const item = { destination: target, headers: delay, body: 'x' }
  const answers = Promise.all([
    call('POST', `/v2/publish/${target}`, 'x', delay),
    call('POST', `/v2/publish/${target}`, 'x', { ...delay, 'Upstash-Deduplication-Id': 'late' }),
    call('POST', '/v2/batch', JSON.stringify([item, { ...item, headers: {} }])),
  ])
  const waiting = `SELECT count(*)::int AS n FROM pg_locks JOIN pg_database d ON d.oid = database
    WHERE NOT granted AND relation = 'tasks'::regclass AND datname = current_database()`
  await expect.poll(async () => (await api.db.query(waiting)).rows, { interval: 10 }).toEqual([{ n: 3 }])
  await sleep(2_100)
  await holder.query('COMMIT')
  const [one, unique, { body: batch }] = await answers
  const ids = [one.body, unique.body, ...batch].map(({ messageId }) => fromId('msg', messageId))
  const { rows } = await api.db.query('SELECT due_at <= now() AS due FROM tasks WHERE id = ANY ($1)', [ids])
  expect(rows).toEqual(Array(4).fill({ due: true }))
})

it('takes the names that QStash takes for queues and flow-control keys', async () => {
  const call = as(await signUp('scaleup'))
  for (const name of ['_a', '-a', 'A.b_c-1']) {
    expect((await call('POST', '/v2/queues', JSON.stringify({ queueName: name }))).status).toBe(200)
    const later = { 'Upstash-Delay': '1h' }
    expect((await call('POST', `/v2/enqueue/${name}/${target}`, 'x', later)).status).toBe(201)
    const key = { ...later, 'Upstash-Flow-Control-Key': name, 'Upstash-Flow-Control-Value': 'rate=1' }
    expect((await call('POST', `/v2/publish/${target}`, 'x', key)).status).toBe(201)
    expect((await call('GET', `/v2/queues/${name}`)).body).toMatchObject({ name })
  }
  expect((await call('POST', '/v2/queues', '{"queueName":"a b"}')).status).toBe(400)
  expect((await call('POST', '/v2/queues', '{"queueName":"flow-control/k"}')).status).toBe(400)
  for (const key of ['a@b', 'k'.repeat(101)])
    expect((await call('POST', `/v2/flowControl/${key}/pin?rate=1`)).status).toBe(400)
})

it('shows no flow-control key as a queue', async () => {
  const call = as(await signUp('scaleup'))
  await call('POST', '/v2/flowControl/k/pin?rate=1')
  const path = '/v2/queues/flow-control%2Fk'
  const answers = [
    call('GET', path),
    call('DELETE', path),
    call('POST', `${path}/pause`),
    call('POST', `${path}/resume`),
  ]
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 404, 404, 404])
  expect((await call('GET', '/v2/flowControl/k')).body).toMatchObject({ rateMax: 1, isPaused: false })
})

it('shows each workspace its own objects only', async () => {
  const [own, other] = [as(await signUp('scaleup')), as(await signUp('scaleup'))]
  const { messageId } = (await own('POST', `/v2/publish/${target}`, 'x', { 'Upstash-Delay': '1h' })).body
  await own('POST', `/v2/schedules/${target}`, '', { 'Upstash-Cron': '0 0 1 1 *', 'Upstash-Schedule-Id': 'mine' })
  await own('POST', '/v2/topics/group/endpoints', JSON.stringify({ endpoints: [{ url: target }] }))
  for (const path of [`/v2/messages/${messageId}`, '/v2/schedules/mine', '/v2/topics/group']) {
    expect([path, (await own('GET', path)).status, (await other('GET', path)).status]).toEqual([path, 200, 404])
  }
  expect((await other('DELETE', `/v2/messages?messageIds=${messageId}`)).body).toEqual({ cancelled: 0 })
  expect((await other('GET', '/v2/events')).body).toEqual({ events: [] })
  expect((await own('GET', `/v2/messages/${messageId}?qstash_token=x`)).status).toBe(200)
})

it('sends a message to the endpoints of a group whose filter its JSON body matches', async () => {
  const caller = await signUp('scaleup')
  const filter = [{ path: 'paid', op: 'eq', value: true }]
  const subscribe = (path: string, fields: object) =>
    api.send(
      'POST',
      '/api/v1/scheduler/subscriptions',
      { topic: 'group', url: `${target}/${path}`, ...fields },
      { 'X-Api-Key': caller.apiKey },
    )
  await subscribe('paid', { filter })
  await subscribe('all', {})
  const reached = async (body: string) =>
    (await as(caller)('POST', '/v2/publish/group', body)).body.map(({ url }: { url: string }) => url)
  expect(await reached('{"paid":true}')).toEqual([`${target}/paid`, `${target}/all`])
  for (const body of ['{"paid":1}', 'paid', '']) expect(await reached(body)).toEqual([`${target}/all`])
})

it('counts the further messages of each group, also beside a group that a message does not reach', async () => {
  const caller = await signUp('unicorn')
  const filter = [{ path: 'paid', op: 'eq', value: true }]
  const subscriptions = [
    { topic: 'none', filter },
    ...['two', 'two', 'three', 'three', 'three'].map(topic => ({ topic })),
  ]
  const path = '/api/v1/scheduler/subscriptions'
  for (const fields of subscriptions)
    await api.send('POST', path, { url: target, ...fields }, { 'X-Api-Key': caller.apiKey })
  const publish = (...groups: string[]) =>
    as(caller)('POST', '/v2/batch', JSON.stringify(groups.map(destination => ({ destination, body: 'x' }))))
  expect((await publish('three', 'none')).body).toMatchObject([Array(3).fill({ url: target }), []])
  expect((await publish('two')).status).toBe(429)
})

it('takes the token from the query, and leaves it out of the destination', async () => {
  const caller = await signUp('scaleup')
  const path = `/v2/publish/${target}?a=1&qstash_token=${caller.apiKey}&b=2`
  const { status, body } = await api.send('POST', path, 'x', {})
  expect([status, body.url]).toEqual([201, `${target}?a=1&b=2`])
  expect((await api.send('POST', `/v2/publish/${target}`, 'x', {})).status).toBe(401)
})

it('shows messages and schedules in the native API like any other task and cron job', async () => {
  const caller = await signUp('scaleup')
  const native = (path: string) =>
    api.send('GET', `/api/v1/scheduler${path}`, undefined, { 'X-Api-Key': caller.apiKey })
  const headers = { 'Upstash-Delay': '1h', 'Upstash-Callback': `${target}/done`, 'Upstash-Label': 'a' }
  const { messageId } = (await as(caller)('POST', `/v2/publish/${target}?x=1`, '{"a":1}', headers)).body
  const task = (await native(`/tasks/${messageId.replace('msg_', 'task_')}`)).body
  expect(task).toMatchObject({
    name: 'example.com/hook',
    source: 'task',
    state: 'pending',
    url: `${target}?x=1`,
    labels: ['a'],
  })
  const retry = { delays_ms: [12_000, 148_000, 1_808_000] }
  expect(task).toMatchObject({ retry, on_attempt: { url: `${target}/done`, retry } })
  expect(task).not.toHaveProperty('qstash')
  await as(caller)('POST', `/v2/schedules/${target}`, '', { 'Upstash-Cron': '0 0 1 1 *' })
  expect((await native('/cronjobs')).body.data).toMatchObject([
    { name: 'example.com/hook', cron: '0 0 1 1 *', timezone: 'UTC' },
  ])
})
