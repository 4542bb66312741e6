import { waitFor } from '@belfry/test-support/wait-for'
import { Client, openai, QstashError, type Receiver, type Schedule, upstash } from '@upstash/qstash'
import { afterAll, expect, expectTypeOf, it } from 'vitest'
import { useStage } from './stage.ts'

const stage = useStage()
const url = (path: string) => stage.target.url(path)
const later = { delay: '1h' } as const
const status = (code: number) => expect.objectContaining({ status: code })

// Records which methods of the client the tests call.
const called = new Set<string>()
function recording<T extends object>(api: T, name: string): T {
  return new Proxy(api, {
    get(target, property) {
      const value = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      called.add(`${name}.${String(property)}`)
      return value.bind(target)
    },
  })
}
const client = () => recording(stage.client, 'client')
const messages = () => recording(stage.client.messages, 'messages')
const dlq = () => recording(stage.client.dlq, 'dlq')
const schedules = () => recording(stage.client.schedules, 'schedules')
const urlGroups = () => recording(stage.client.urlGroups, 'urlGroups')
const flowControl = () => recording(stage.client.flowControl, 'flowControl')
const queue = (queueName?: string) =>
  recording(stage.client.queue(queueName === undefined ? {} : { queueName }), 'queue')

it('publish, publishJSON and messages.get', async () => {
  const { messageId, url: sentTo } = await client().publish({ url: url('/a'), body: 'text', ...later })
  expectTypeOf(messageId).toEqualTypeOf<string>()
  expect(sentTo).toBe(url('/a'))
  const published = await client().publishJSON({
    ...later,
    url: url('/b?c=d'),
    body: { a: 1 },
    method: 'PUT',
    headers: { 'X-Own': '1' },
    retries: 2,
    retryDelay: '1000',
    callback: url('/callback'),
    failureCallback: url('/failure'),
    timeout: 10,
    label: ['one', 'two'],
    flowControl: { key: 'shown', parallelism: 3, rate: 10, period: '1m' },
  })
  const message = await messages().get(published.messageId)
  expectTypeOf(message.notBefore).toEqualTypeOf<number | undefined>()
  expect(message).toMatchObject({
    messageId: published.messageId,
    url: url('/b?c=d'),
    method: 'PUT',
    header: { 'Content-Type': ['application/json'], 'X-Own': ['1'] },
    body: '{"a":1}',
    maxRetries: 2,
    retryDelayExpression: '1000',
    callback: url('/callback'),
    failureCallback: url('/failure'),
    label: 'one',
    labels: ['one', 'two'],
    flowControlKey: 'shown',
    parallelism: 3,
    rate: 10,
    ratePerSecond: 10,
    period: 60,
    callerIp: '127.0.0.1',
  })
  expect(message.createdAt).toBeGreaterThan(Date.now() - 60_000)
  expect(Number(message.notBefore) - message.createdAt).toBeGreaterThan(3_590_000)
  await expect(messages().get('msg_unknown')).rejects.toEqual(status(404))
})

it('redacts what the publisher asks to redact', async () => {
  const redact = { body: true, header: ['X-Secret'] } as const
  const headers = { 'X-Secret': 's', 'X-Open': 'o' }
  const { messageId } = await client().publish({
    ...later,
    url: url('/a'),
    body: 'secret',
    headers,
    redact: { ...redact, header: [...redact.header] },
  })
  const { body, header } = await messages().get(messageId)
  expect(body).toMatch(/^REDACTED:[0-9a-f]{64}$/)
  expect(header?.['X-Secret']?.[0]).toMatch(/^REDACTED:/)
  expect(header?.['X-Open']).toEqual(['o'])
})

it('batch and batchJSON, with a queue, a URL group and a refused message', async () => {
  await urlGroups().addEndpoints({ name: 'batched', endpoints: [{ url: url('/x') }, { url: url('/y') }] })
  const answers = await client().batchJSON([
    { ...later, url: url('/a'), body: { n: 1 } },
    { ...later, url: url('/b'), body: { n: 2 }, queueName: 'batch' },
    { ...later, urlGroup: 'batched', body: { n: 3 } },
    { ...later, url: 'http://10.0.0.1/', body: { n: 4 } },
  ])
  expect(answers).toMatchObject([
    { messageId: expect.stringMatching(/^msg_/), url: url('/a') },
    { messageId: expect.stringMatching(/^msg_/) },
    [{ url: url('/x') }, { url: url('/y') }],
    { error: expect.stringContaining('private') },
  ])
  const [, second] = answers as Array<{ messageId: string }>
  expect(await messages().get(second?.messageId ?? '')).toMatchObject({ queueName: 'batch', body: '{"n":2}' })
  const many = Array.from({ length: 120 }, (_, i) => ({
    ...later,
    url: url('/many'),
    body: `text ${i}`,
    label: 'many',
  }))
  const published = (await client().batch(many)) as Array<{ messageId: string }>
  expect(new Set(published.map(({ messageId }) => messageId)).size).toBe(120)
  // The client sends `count`, 100 by default.
  expect(await messages().cancel({ filter: { label: 'many' } })).toEqual({ cancelled: 100 })
  expect(await messages().cancel({ filter: { label: 'many' }, count: 7 })).toEqual({ cancelled: 7 })
  expect(await messages().cancel({ filter: { label: 'many' } })).toEqual({ cancelled: 13 })
})

it('messages: cancel one, many, by filter and all', async () => {
  const publish = async (label: string) =>
    (await client().publish({ ...later, url: url('/cancelled'), label })).messageId
  const [one, two, three, four, five, six] = await Promise.all(['a', 'a', 'a', 'b', 'b', 'c'].map(publish))
  expect(await messages().cancel(one ?? '')).toEqual({ cancelled: 1 })
  await expect(messages().cancel(one ?? '')).rejects.toEqual(status(404))
  await messages().delete(two ?? '')
  expect(await messages().cancel([three ?? '', 'msg_unknown'])).toEqual({ cancelled: 1 })
  expect(
    await messages().cancel({
      filter: { label: ['b', 'c'], host: new URL(url('/')).host, path: '/cancelled', url: url('/other') },
    }),
  ).toEqual({ cancelled: 0 })
  expect(await messages().cancel({ filter: { label: 'b', path: '/cancelled' } })).toEqual({ cancelled: 2 })
  expect([four, five].length).toBe(2)
  expect(await messages().deleteMany([six ?? ''])).toBe(1)
  await publish('d')
  expect(await messages().deleteAll()).toBeGreaterThanOrEqual(1)
  expect(await messages().cancel({ all: true })).toEqual({ cancelled: 0 })
})

it('never takes an unknown filter for all messages', async () => {
  const { messageId } = await client().publish({ ...later, url: url('/kept') })
  const refused = await stage.call('DELETE', '/v2/messages?colour=red')
  expect([refused.status, JSON.parse(refused.text)]).toEqual([400, { error: 'unknown filter: colour' }])
  expect((await stage.call('DELETE', '/v2/dlq?colour=red')).status).toBe(400)
  const json = { headers: { 'Content-Type': 'application/json' }, body: '{"messageIds":[]}' }
  expect((await stage.call('DELETE', '/v2/messages', json)).status).toBe(400)
  const named = { ...json, body: JSON.stringify({ messageIds: ['msg_unknown'] }) }
  expect(JSON.parse((await stage.call('DELETE', '/v2/messages', named)).text)).toEqual({ cancelled: 0 })
  expect((await messages().get(messageId)).messageId).toBe(messageId)
})

it('queues: upsert, get, list, pause, resume, enqueue, enqueueJSON and delete', async () => {
  await queue('q1').upsert({ parallelism: 2 })
  expect(await queue('q1').get()).toEqual({
    name: 'q1',
    parallelism: 2,
    paused: false,
    lag: 0,
    createdAt: expect.any(Number),
    updatedAt: expect.any(Number),
  })
  await queue('q1').pause()
  expect((await queue('q1').get()).paused).toBe(true)
  const { messageId } = await queue('q1').enqueue({ url: url('/queued'), body: 'x' })
  await queue('q1').enqueueJSON({ url: url('/queued'), body: { a: 1 } })
  await waitFor(
    () => queue('q1').get(),
    ({ lag }) => lag === 2,
  )
  expect(await messages().get(messageId)).toMatchObject({ queueName: 'q1' })
  const named = await schedules().create({ destination: url('/s'), cron: '@daily', queueName: 'q1' })
  await expect(queue('q1').delete()).rejects.toEqual(status(412))
  await schedules().delete(named.scheduleId)
  await queue('q1').resume()
  await stage.received('/queued', 2)
  await queue('q1').upsert({ parallelism: 1, paused: true })
  expect((await queue().list()).find(({ name }) => name === 'q1')).toMatchObject({ parallelism: 1, paused: true })
  const waiting = await queue('q1').enqueue({ url: url('/dropped'), body: 'x' })
  await queue('q1').delete()
  expect(await messages().cancel([waiting.messageId])).toEqual({ cancelled: 0 })
  await expect(queue('q1').get()).rejects.toEqual(status(404))
})

it('urlGroups: addEndpoints, get, list, removeEndpoints and delete', async () => {
  await urlGroups().addEndpoints({ name: 'group', endpoints: [{ url: url('/1'), name: 'one' }, { url: url('/2') }] })
  await urlGroups().addEndpoints({ name: 'group', endpoints: [{ url: url('/1b'), name: 'one' }, { url: url('/3') }] })
  const group = await urlGroups().get('group')
  expectTypeOf(group.endpoints).toEqualTypeOf<Array<{ name?: string; url: string }>>()
  expect(group).toEqual({
    name: 'group',
    createdAt: expect.any(Number),
    updatedAt: expect.any(Number),
    endpoints: [{ url: url('/1b'), name: 'one' }, { url: url('/2') }, { url: url('/3') }],
  })
  await urlGroups().removeEndpoints({ name: 'group', endpoints: [{ name: 'one' }, { url: url('/3') }] })
  expect((await urlGroups().list()).find(({ name }) => name === 'group')?.endpoints).toEqual([{ url: url('/2') }])
  await client().topics.delete('group')
  await urlGroups().addEndpoints({ name: 'gone', endpoints: [{ url: url('/1') }] })
  await urlGroups().delete('gone')
  await expect(urlGroups().get('gone')).rejects.toEqual(status(404))
  await expect(client().publish({ urlGroup: 'gone', body: 'x' })).rejects.toEqual(status(404))
})

it('schedules: create, replace, get, list, pause, resume and delete', async () => {
  const request = { destination: url('/s'), cron: 'CRON_TZ=Europe/Berlin 30 6 * * 1', body: 'a', retries: 1 }
  const { scheduleId } = await schedules().create({ ...request, scheduleId: 'mine', label: 'weekly' })
  expect(scheduleId).toBe('mine')
  const schedule: Schedule = await schedules().get('mine')
  expect(schedule).toMatchObject({
    scheduleId: 'mine',
    cron: request.cron,
    destination: url('/s'),
    method: 'POST',
    body: 'a',
    retries: 1,
    isPaused: false,
    label: 'weekly',
    createdAt: expect.any(Number),
  })
  expect(schedule.nextScheduleTime).toBeGreaterThan(Date.now())
  await schedules().create({ ...request, scheduleId: 'mine', cron: '0 0 1 1 *', queueName: 'nightly' })
  expect(await schedules().get('mine')).toMatchObject({ cron: '0 0 1 1 *', queueName: 'nightly' })
  const other = await schedules().create({ destination: url('/s'), cron: '@daily' })
  expect((await schedules().list()).map(one => one.scheduleId)).toEqual([other.scheduleId, 'mine'])
  await schedules().pause({ schedule: 'mine' })
  expect((await schedules().get('mine')).isPaused).toBe(true)
  await schedules().resume({ schedule: 'mine' })
  expect((await schedules().get('mine')).isPaused).toBe(false)
  await schedules().delete('mine')
  await expect(schedules().get('mine')).rejects.toEqual(status(404))
  await expect(schedules().create({ destination: url('/s'), cron: 'never' })).rejects.toEqual(status(400))
  await schedules().create({ destination: url('/s'), cron: '0 0 1 1 *', delay: '1m', scheduleId: 'delayed' })
  expect(await schedules().get('delayed')).toMatchObject({ delay: 60 })
  await expect(schedules().create({ destination: 'a-group', cron: '* * * * *' })).rejects.toEqual(status(501))
})

it('dlq: listMessages, retry, delete and deleteMany', async () => {
  stage.target.answer('/dead', { status: 500, headers: { 'X-Why': 'broken' }, body: 'no ü' })
  const publish = (label: string) => client().publish({ url: url('/dead'), body: 'x', retries: 0, label })
  const sent = await Promise.all(['d1', 'd2', 'd3', 'd4', 'd5', 'd6'].map(publish))
  const list = async () => (await dlq().listMessages({ filter: { url: url('/dead') } })).messages
  const all = await waitFor(list, ({ length }) => length === 6)
  expect(new Set(all.map(({ messageId }) => messageId))).toEqual(new Set(sent.map(({ messageId }) => messageId)))
  expect(all[0]).toMatchObject({ responseStatus: 500, responseBody: 'no ü', maxRetries: 0, body: 'x' })
  expect(all[0]?.responseHeader?.['X-Why']).toEqual(['broken'])
  const page = await dlq().listMessages({ count: 4 })
  expect([page.messages.length, typeof page.cursor]).toEqual([4, 'string'])
  const rest = await dlq().listMessages({ count: 4, cursor: page.cursor as string })
  expect([rest.messages.length, rest.cursor]).toEqual([2, undefined])
  const idOf = async (label: string) =>
    (await dlq().listMessages({ filter: { label, responseStatus: 500 } })).messages[0]?.dlqId ?? ''
  const [d1, d2, d3, d4, d5] = await Promise.all(['d1', 'd2', 'd3', 'd4', 'd5'].map(idOf))
  expect((await dlq().listMessages({ dlqIds: [d1 ?? '', d2 ?? ''] })).messages).toHaveLength(2)
  expect(await dlq().listMessages({ filter: { responseStatus: 404 } })).toEqual({ messages: [], cursor: undefined })
  expect(await dlq().delete(d1 ?? '')).toEqual({ deleted: 1 })
  await expect(dlq().delete(d1 ?? '')).rejects.toEqual(status(404))
  expect(await dlq().deleteMany({ dlqIds: [d2 ?? '', d3 ?? ''] })).toEqual({ deleted: 2 })
  stage.target.answer('/dead', { status: 200 })
  const retried = await dlq().retry(d4 ?? '')
  expect(retried.responses).toHaveLength(1)
  expect(await messages().get(retried.responses[0]?.messageId ?? '')).toMatchObject({ url: url('/dead'), label: 'd4' })
  expect((await dlq().retry({ filter: { label: 'd5' } })).responses).toHaveLength(1)
  expect((await dlq().listMessages({ dlqIds: d5 ?? '' })).messages).toEqual([])
  expect(await dlq().delete({ all: true })).toEqual({ deleted: 1, cursor: undefined })
})

it('logs and events: every state, filters and pages', async () => {
  stage.target.answer('/logged', [{ status: 500 }, { status: 200 }])
  const { messageId } = await client().publish({ url: url('/logged'), body: 'ü', retryDelay: '0', label: 'logged' })
  const logs = () => client().logs({ filter: { messageId } })
  const { logs: found } = await waitFor(logs, ({ logs }) => logs.some(({ state }) => state === 'DELIVERED'))
  expect(found.map(({ state }) => state)).toEqual(['DELIVERED', 'ACTIVE', 'RETRY', 'ERROR', 'ACTIVE', 'CREATED'])
  expect(found[0]).toMatchObject({
    messageId,
    url: url('/logged'),
    label: 'logged',
    body: Buffer.from('ü').toString('base64'),
  })
  expect(found[3]?.error).toEqual(expect.any(String))
  const paged: string[] = []
  let cursor: string | undefined
  do {
    const page = await client().events({
      count: 1,
      ...(cursor === undefined ? { filter: { messageId } } : { cursor, filter: { messageId } }),
    })
    paged.push(...page.events.map(({ state }) => state))
    cursor = page.cursor
  } while (cursor !== undefined)
  expect(paged).toEqual(found.map(({ state }) => state))
  const cancelled = await client().publish({ ...later, url: url('/logged') })
  await messages().cancel(cancelled.messageId)
  const { logs: ended } = await client().logs({ filter: { messageId: cancelled.messageId } })
  expect(ended.map(({ state }) => state)).toEqual(['CANCELED', 'CREATED'])
  expect((await client().logs({ filter: { state: 'ERROR', label: 'logged' } })).logs).toHaveLength(1)
  expect(
    (await client().logs({ filter: { messageId, responseStatus: 500 } as never })).logs.map(({ state }) => state),
  ).toEqual(['RETRY', 'ERROR', 'ACTIVE'])
  const inProgress = await client().logs({ filter: { messageId, state: 'IN_PROGRESS' } })
  expect(inProgress.logs.map(({ state }) => state)).toEqual(['ACTIVE', 'RETRY', 'ERROR', 'ACTIVE'])
  expect((await client().logs({ messageIds: [messageId, cancelled.messageId] })).logs).toHaveLength(8)
  const { text } = await stage.call('GET', `/v2/logs?messageId=${messageId}`)
  expect(JSON.parse(text).logs).toHaveLength(6)
  await expect(client().logs({ filter: { colour: 'red' } as never })).rejects.toEqual(status(400))
})

it('flowControl: get, pause, resume, pin, unpin, resetRate and getGlobalParallelism', async () => {
  const publish = () =>
    client().publish({ url: url('/flow'), flowControl: { key: 'k', rate: 1, period: '1h' }, body: 'x' })
  await publish()
  await stage.received('/flow')
  await publish()
  const info = await waitFor(
    () => flowControl().get('k'),
    ({ waitListSize }) => waitListSize === 1,
  )
  expect(info).toMatchObject({
    flowControlKey: 'k',
    rateMax: 1,
    rateCount: 1,
    ratePeriod: 3600,
    parallelismMax: 0,
    isPaused: false,
  })
  await flowControl().resetRate('k')
  await stage.received('/flow', 2)
  await flowControl().pin('k', { parallelism: 4, rate: 100, period: 60 })
  await publish()
  expect(await flowControl().get('k')).toMatchObject({
    parallelismMax: 4,
    rateMax: 100,
    ratePeriod: 60,
    isPinnedRate: true,
  })
  await flowControl().unpin('k', { parallelism: true, rate: true })
  await publish()
  expect(await flowControl().get('k')).toMatchObject({ parallelismMax: 0, rateMax: 1, isPinnedParallelism: false })
  await flowControl().pause('k')
  expect((await flowControl().get('k')).isPaused).toBe(true)
  await flowControl().resume('k')
  expect((await flowControl().get('k')).isPaused).toBe(false)
  expect(await flowControl().getGlobalParallelism()).toEqual({
    parallelismMax: 0,
    parallelismCount: expect.any(Number),
  })
  await expect(flowControl().get('unknown')).rejects.toEqual(status(404))
})

it('refuses in the form of QStash', async () => {
  const wrong = new Client({ baseUrl: stage.belfry.url, token: 'bf_wrong', retry: false })
  const error = await wrong.publish({ url: url('/a') }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(QstashError)
  expect(error).toEqual(status(401))
  expect(JSON.parse((error as Error).message)).toEqual({ error: expect.any(String) })
  expect((await stage.call('GET', '/v2/unknown')).status).toBe(404)
  expect((await stage.call('PUT', '/v2/batch')).status).toBe(405)
  await expect(client().publish({ url: 'ftp://example.com' })).rejects.toEqual(status(400))
})

it('answers 501 where Belfry has nothing to offer', async () => {
  const chat = client().chat()
  called.add('chat')
  const request = { provider: upstash(), model: 'meta-llama/Meta-Llama-3-8B-Instruct', messages: [] } as const
  await expect(chat.create({ ...request, messages: [] })).rejects.toEqual(status(501))
  await expect(client().publishJSON({ api: { name: 'llm' }, body: {}, callback: url('/c') })).rejects.toEqual(
    status(501),
  )
  const workflow = recording(stage.client.workflow, 'workflow')
  await expect(workflow.cancel('wfr_1')).rejects.toEqual(status(501))
  // Another provider is a URL like any other.
  const llm = { name: 'llm', provider: openai({ token: 'sk' }) } as const
  const { messageId } = await client().publishJSON({ ...later, api: llm, body: {}, callback: url('/c') })
  expect((await messages().get(messageId)).url).toBe('https://api.openai.com/v1/chat/completions')
})

afterAll(() => {
  const apis = { messages: stage.client.messages, dlq: stage.client.dlq, schedules: stage.client.schedules } as const
  const more = {
    urlGroups: stage.client.urlGroups,
    flowControl: stage.client.flowControl,
    queue: stage.client.queue(),
    workflow: stage.client.workflow,
  }
  const all = Object.entries({ client: stage.client, ...apis, ...more }).flatMap(([name, api]) =>
    Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(api)))
      .filter(([method, { value }]) => method !== 'constructor' && typeof value === 'function')
      .map(([method]) => `${name}.${method}`),
  )
  // `queue` and `chat` of the client return the objects that are listed here.
  expect(all.filter(name => !called.has(name) && name !== 'client.queue')).toEqual([])
})

/** The receiver of the package has one method, which delivery.e2e.test.ts calls. */
expectTypeOf<keyof Receiver>().toEqualTypeOf<'verify'>()
