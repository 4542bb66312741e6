import { randomBytes } from 'node:crypto'
import { waitFor } from '@belfry/test-support/wait-for'
import { expect, it } from 'vitest'
import { useStage } from './stage.ts'

const stage = useStage()
const url = (path: string) => stage.target.url(path)
const bodyOf = (received: { body: Buffer } | undefined) => JSON.parse(received?.body.toString() ?? '')
const decoded = (base64: string) => Buffer.from(base64, 'base64').toString()

it('delivers a message once, signed, with its body, its type and its headers', async () => {
  const { messageId } = await stage.client.publishJSON({
    url: url('/plain?a=1&b=//x'),
    body: { order: 42, name: 'ü' },
    headers: { 'X-Own': 'a', Authorization: 'Bearer mine' },
    label: 'first',
  })
  const [request] = await stage.received('/plain')
  expect(messageId).toMatch(/^msg_/)
  expect(bodyOf(request)).toEqual({ order: 42, name: 'ü' })
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-own': 'a',
    authorization: 'Bearer mine',
    'upstash-message-id': messageId,
    'upstash-retried': '0',
    'upstash-caller-ip': '127.0.0.1',
    'webhook-id': messageId.replace('msg_', 'task_'),
  })
  const receiver = await stage.receiver()
  const signature = request?.headers['upstash-signature'] ?? ''
  const body = request?.body.toString() ?? ''
  expect(await receiver.verify({ signature, body, url: url('/plain?a=1&b=//x') })).toBe(true)
  await expect(receiver.verify({ signature, body: `${body} ` })).rejects.toThrow('body hash')
  await expect(receiver.verify({ signature, body, url: url('/plain') })).rejects.toThrow('invalid subject')
})

it('verifies during and after a rotation of the keys', async () => {
  const before = await stage.receiver()
  const { current, next } = await stage.keys()
  const rotated = JSON.parse((await stage.call('POST', '/v2/keys/rotate')).text)
  expect(rotated.current).toBe(next)
  expect([current, next]).not.toContain(rotated.next)
  await new Promise(resolve => setTimeout(resolve, 5_500)) // dispatchers keep keys for five seconds
  await stage.client.publish({ url: url('/rotated'), body: 'x' })
  const [request] = await stage.received('/rotated')
  const signed = { signature: request?.headers['upstash-signature'] ?? '', body: 'x', url: url('/rotated') }
  expect(await before.verify(signed)).toBe(true)
  expect(await (await stage.receiver()).verify(signed)).toBe(true)
})

it('sends bodies of any kind unchanged, and none when there is none', async () => {
  const bytes = randomBytes(2_000)
  const { status } = await stage.call('POST', `/v2/publish/${url('/binary')}`, {
    headers: { 'Content-Type': 'application/x-protobuf', 'Upstash-Method': 'PUT' },
    body: bytes,
  })
  expect(status).toBe(201)
  expect((await stage.received('/binary'))[0]?.body.equals(bytes)).toBe(true)
  await stage.client.publish({ url: url('/empty'), method: 'GET' })
  const [empty] = await stage.received('/empty')
  expect(empty?.body.length).toBe(0)
  const signature = empty?.headers['upstash-signature'] ?? ''
  expect(await (await stage.receiver()).verify({ signature, body: '', url: url('/empty') })).toBe(true)
})

it('retries after the delays of the expression, and counts the retries', async () => {
  stage.target.answer('/retried', [{ status: 500 }, { status: 410 }, { status: 200 }])
  await stage.client.publish({ url: url('/retried'), body: 'x', retries: 3, retryDelay: '200 * (1 + retried)' })
  const requests = await stage.received('/retried', 3)
  expect(requests.map(({ headers }) => headers['upstash-retried'])).toEqual(['0', '1', '2'])
})

it('waits as long as Retry-After says, and ends with 489', async () => {
  stage.target.answer('/limited', [{ status: 429, headers: { 'retry-after': '1' } }, { status: 200 }])
  await stage.client.publish({ url: url('/limited'), retryDelay: '60000' })
  await stage.received('/limited', 2)
  stage.target.answer('/final', { status: 489, headers: { 'Upstash-NonRetryable-Error': 'true' } })
  const { messageId } = await stage.client.publish({
    url: url('/final'),
    retryDelay: '0',
    failureCallback: url('/ended'),
  })
  const [ended] = await stage.received('/ended')
  expect(bodyOf(ended)).toMatchObject({ status: 489, retried: 0, sourceMessageId: messageId })
  expect(stage.target.requestsTo('/final')).toHaveLength(1)
})

it('calls back after each attempt, and once more when the message has failed, with signed messages', async () => {
  stage.target.answer('/report', { status: 503, headers: { 'X-Reason': 'busy' }, body: 'later ü' })
  const { messageId } = await stage.client.publish({
    url: url('/report'),
    body: 'the body',
    headers: { 'Content-Type': 'text/plain', 'Upstash-Callback-Forward-X-Who': 'me' },
    retries: 1,
    retryDelay: '0',
    callback: url('/callback'),
    failureCallback: url('/failure'),
  })
  const callbacks = await stage.received('/callback', 2)
  const [failure] = await stage.received('/failure')
  const bodies = callbacks.map(bodyOf).sort((a, b) => a.retried - b.retried)
  expect(bodies.map(({ retried }) => retried)).toEqual([0, 1])
  for (const body of [...bodies, bodyOf(failure)]) {
    expect(body).toMatchObject({
      status: 503,
      maxRetries: 1,
      sourceMessageId: messageId,
      url: url('/report'),
      method: 'POST',
    })
    expect(body.header['X-Reason']).toEqual(['busy'])
    expect(decoded(body.body)).toBe('later ü')
    expect(decoded(body.sourceBody)).toBe('the body')
    expect(body.sourceHeader['Content-Type']).toEqual(['text/plain'])
    expect(body.createdAt).toBeGreaterThan(Date.now() - 60_000)
    expect(body.callerIP).toBe('127.0.0.1')
  }
  expect(bodyOf(failure).dlqId).toBe(messageId.replace('msg_', 'dlq_'))
  expect(bodies[0].dlqId).toBeUndefined()
  expect(callbacks[0]?.headers['x-who']).toBe('me')
  const receiver = await stage.receiver()
  for (const [path, request] of [
    ['/callback', callbacks[0]],
    ['/failure', failure],
  ] as const) {
    const signed = { signature: request?.headers['upstash-signature'] ?? '', body: request?.body.toString() ?? '' }
    expect(await receiver.verify({ ...signed, url: url(path) })).toBe(true)
  }
})

it('publishes to every endpoint of a URL group', async () => {
  await stage.client.urlGroups.addEndpoints({
    name: 'group',
    endpoints: [{ url: url('/one'), name: 'first' }, { url: url('/two') }],
  })
  const published = await stage.client.publishJSON({ urlGroup: 'group', body: { n: 1 } })
  expect(published.map(({ url }) => url)).toEqual([url('/one'), url('/two')])
  const [one] = await stage.received('/one')
  const [two] = await stage.received('/two')
  expect([one?.headers['upstash-topic-name'], two?.headers['upstash-topic-name']]).toEqual(['group', 'group'])
})

it('answers a repeated message with the first id', async () => {
  const publish = () => stage.client.publish({ url: url('/once'), body: 'x', deduplicationId: 'once' })
  const all = await Promise.all(Array.from({ length: 10 }, publish))
  expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(1)
  expect(all.filter(({ deduplicated }) => !deduplicated)).toHaveLength(1)
  const byContent = (body: string) =>
    stage.client.publish({ url: url('/content'), body, contentBasedDeduplication: true })
  const [first, again, other] = [await byContent('a'), await byContent('a'), await byContent('b')]
  expect(again).toMatchObject({ messageId: first.messageId, deduplicated: true })
  expect(other.messageId).not.toBe(first.messageId)
  await stage.received('/content', 2)
  expect(stage.target.requestsTo('/once')).toHaveLength(1)
})

it('delivers the messages of a queue in order, through retries', async () => {
  const queue = stage.client.queue({ queueName: 'fifo' })
  stage.target.answer('/fifo', [{ status: 500 }, { status: 200 }])
  const bodies = Array.from({ length: 5 }, (_, i) => `message ${i}`)
  for (const body of bodies) await queue.enqueue({ url: url('/fifo'), body, retryDelay: '100' })
  const requests = await stage.received('/fifo', 6)
  expect(requests.map(({ body }) => body.toString())).toEqual(['message 0', ...bodies])
})

it('runs a schedule, and reports it', async () => {
  const { scheduleId } = await stage.client.schedules.create({
    destination: url('/scheduled'),
    cron: '* * * * *',
    scheduleId: 'every-minute',
    body: '{"a":1}',
  })
  expect(scheduleId).toBe('every-minute')
  await stage.belfry.execute(
    `UPDATE tasks SET due_at = now() - interval '1 ms', execute_at = now() - interval '1 ms' FROM task_requests
     WHERE task_id = id AND url = $1 AND state = 'pending'`,
    [url('/scheduled')],
  )
  const [request] = await waitFor(
    () => stage.received('/scheduled'),
    requests => requests.length > 0,
  )
  expect(request?.headers['upstash-schedule-id']).toBe('every-minute')
  expect(bodyOf(request)).toEqual({ a: 1 })
}, 30_000)
