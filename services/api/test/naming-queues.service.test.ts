import { fromId } from '@belfry/domain/id'
import { beforeEach, describe, expect, it } from 'vitest'
import { aTaskBody, type Caller, type Json, lastStatus, useApi } from './setup.ts'

const api = useApi({ QSTASH_API: 'on', TIERS: JSON.stringify({ unlimited: { pending_tasks: 20 } }) })
const root = '/api/v1/scheduler'
const url = 'https://example.com/'
const past = '2020-01-01T00:00:00Z'
const event = { topic: 't', payload: {}, target_url: url }
const cronJob = { name: 'J', url, method: 'POST', cron: '0 0 1 1 *' }
type Send = (method: string, path: string, body?: Json, headers?: Record<string, string>) => Promise<Json>
let owner: Caller
let ofOwner: Send
beforeEach(async () => {
  owner = await api.signUp()
  ofOwner = sendAs(owner.apiKey)
})

function sendAs(key: string): Send {
  return (method, path, body, headers = {}) =>
    api.send(method, path, body, { Authorization: `Bearer ${key}`, ...headers })
}

async function keyWith(...scopes: string[]): Promise<Send> {
  const path = `/api/v1/workspaces/${owner.workspaceId}/api-keys`
  const { body } = await api.send('POST', path, { name: 'A', scopes }, { Authorization: `Bearer ${owner.token}` })
  return sendAs(body.key)
}

const queue = async (name: string) => (await ofOwner('GET', `${root}/queues/${encodeURIComponent(name)}`)).body
const names = async () => (await ofOwner('GET', `${root}/queues`)).body.data.map(({ name }: Json) => name)

/** Each way to send a queue with limits, with the name of the queue that it means. */
const doors: Array<[door: string, scope: string, name: string, send: (send: Send, limits: Json) => Promise<Json>]> = [
  ['a task', 'publish', 'q', (send, q) => send('POST', `${root}/tasks`, aTaskBody({ queue: q }))],
  [
    'a task with a key',
    'publish',
    'q',
    (send, q) => send('POST', `${root}/tasks`, aTaskBody({ queue: q, key: 'k', on_conflict: 'replace' })),
  ],
  [
    'a task with an Idempotency-Key',
    'publish',
    'q',
    (send, q) => send('POST', `${root}/tasks`, aTaskBody({ queue: q }), { 'Idempotency-Key': `k${Math.random()}` }),
  ],
  ['a batch', 'publish', 'q', (send, q) => send('POST', `${root}/tasks/batch`, { tasks: [aTaskBody({ queue: q })] })],
  ['an event', 'publish', 'q', (send, q) => send('POST', '/api/events', { ...event, queue: q })],
  [
    'a change of a task',
    'task.write',
    'q',
    async (send, q) => {
      const { id } = (await ofOwner('POST', `${root}/tasks`, aTaskBody())).body
      return send('PATCH', `${root}/tasks/${id}`, { queue: q })
    },
  ],
  ['a cron job', 'cron_job.write', 'q', (send, q) => send('POST', `${root}/cronjobs`, { ...cronJob, queue: q })],
  [
    'a change of a cron job',
    'cron_job.write',
    'q',
    async (send, q) => {
      const { id } = (await ofOwner('POST', `${root}/cronjobs`, cronJob)).body
      return send('PATCH', `${root}/cronjobs/${id}`, { queue: q })
    },
  ],
  [
    'a subscription',
    'subscription.write',
    'q',
    (send, q) => send('POST', `${root}/subscriptions`, { topic: 't', url, queue: q }),
  ],
  [
    'a change of a subscription',
    'subscription.write',
    'q',
    async (send, q) => {
      const { id } = (await ofOwner('POST', `${root}/subscriptions`, { topic: 't', url })).body
      return send('PATCH', `${root}/subscriptions/${id}`, { queue: q })
    },
  ],
  ['a message', 'publish', 'flow-control/q', (send, q) => send('POST', `/v2/publish/${url}`, 'x', flowControl(q))],
  [
    'a batch of messages',
    'publish',
    'flow-control/q',
    (send, q) => send('POST', '/v2/batch', [{ destination: url, headers: flowControl(q), body: 'x' }]),
  ],
  [
    'a schedule',
    'cron_job.write',
    'flow-control/q',
    (send, q) => send('POST', `/v2/schedules/${url}`, 'x', { ...flowControl(q), 'Upstash-Cron': '0 0 1 1 *' }),
  ],
]

function flowControl({ name, max_concurrent: max }: { name: string; max_concurrent: number }) {
  return { 'Upstash-Flow-Control-Key': name, 'Upstash-Flow-Control-Value': `parallelism=${max}`, 'Upstash-Delay': '0s' }
}

describe.each(doors)('the limits of a queue in %s', (_, scope, name, send) => {
  it('need queue.write, or must be the present ones', async () => {
    const narrow = await keyWith(scope)
    expect(lastStatus(await send(narrow, { name: 'q', max_concurrent: 3 }))).toBe(403)
    expect(await names()).toEqual([])
    await ofOwner('PUT', `${root}/queues/${encodeURIComponent(name)}`, { max_concurrent: 3 })
    expect(lastStatus(await send(narrow, { name: 'q', max_concurrent: 1 }))).toBe(403)
    expect((await queue(name)).max_concurrent).toBe(3)
    expect(lastStatus(await send(narrow, { name: 'q', max_concurrent: 3 }))).toBeLessThan(300)
    const wide = await keyWith(scope, 'queue.write')
    expect(lastStatus(await send(wide, { name: 'q', max_concurrent: 1 }))).toBeLessThan(300)
    expect((await queue(name)).max_concurrent).toBe(1)
  })
})

it('a key that may only publish creates a queue by naming it, without limits', async () => {
  const publish = await keyWith('publish')
  const send = (queue: Json) => publish('POST', `${root}/tasks`, aTaskBody({ queue }))
  expect((await send('a')).status).toBe(201)
  const none = { max_concurrent: null, rate_limit: null, ordered: false }
  expect((await send({ name: 'b', ...none })).status).toBe(201)
  const headers = { 'Upstash-Queue-Name': 'c', 'Upstash-Delay': '1h' }
  expect((await publish('POST', `/v2/publish/${url}`, 'x', headers)).status).toBe(201)
  expect([await queue('a'), await queue('b'), await queue('c')]).toMatchObject([none, none, { ...none, ordered: true }])
})

it('a change of limits by a task is in the audit log', async () => {
  await ofOwner('PUT', `${root}/queues/q`, { max_concurrent: 3 })
  await ofOwner('POST', `${root}/tasks`, aTaskBody({ queue: { name: 'q', max_concurrent: 3, ordered: true } }))
  const log = await api.send('GET', `/api/v1/organizations/${owner.organizationId}/audit-log?object_id=q`, undefined, {
    Authorization: `Bearer ${owner.token}`,
  })
  expect(log.body.data[0]).toMatchObject({ action: 'queue.changed', details: { ordered: true } })
})

describe('a request that is refused leaves no queue, and changes none', () => {
  const changed = { name: 'q', max_concurrent: 2 }
  beforeEach(() => ofOwner('PUT', `${root}/queues/q`, { max_concurrent: 3 }))

  it.each<[string, (named: Json) => Promise<Json>]>([
    ['a task in the past', q => ofOwner('POST', `${root}/tasks`, aTaskBody({ execute_at: past, queue: q }))],
    [
      'a task whose key is in use',
      async q => {
        await ofOwner('POST', `${root}/tasks`, aTaskBody({ key: 'k' }))
        return ofOwner('POST', `${root}/tasks`, aTaskBody({ key: 'k', queue: q }))
      },
    ],
    [
      'a batch beyond the limit of pending tasks',
      q => ofOwner('POST', `${root}/tasks/batch`, { tasks: Array(21).fill(aTaskBody({ queue: q })) }),
    ],
    [
      'a change of a task that has ended',
      async q => {
        const { id } = (await ofOwner('POST', `${root}/tasks`, aTaskBody())).body
        await ofOwner('DELETE', `${root}/tasks/${id}`)
        return ofOwner('PATCH', `${root}/tasks/${id}`, { queue: q })
      },
    ],
    ['a change of an unknown cron job', q => ofOwner('PATCH', `${root}/cronjobs/cron_none`, { queue: q })],
    [
      'a cron job whose key is in use',
      async q => {
        await ofOwner('POST', `${root}/cronjobs`, { ...cronJob, key: 'k' })
        return ofOwner('POST', `${root}/cronjobs`, { ...cronJob, key: 'k', queue: q })
      },
    ],
    [
      'a subscription whose key is in use',
      async q => {
        await ofOwner('POST', `${root}/subscriptions`, { topic: 't', url, key: 'k' })
        return ofOwner('POST', `${root}/subscriptions`, { topic: 't', url, key: 'k', queue: q })
      },
    ],
  ])('%s', async (_, send) => {
    expect((await send(changed)).status).toBeGreaterThanOrEqual(400)
    expect((await send('new')).status).toBeGreaterThanOrEqual(400)
    expect(await names()).toEqual(['q'])
    expect((await queue('q')).max_concurrent).toBe(3)
  })
})

it('a workspace has at most 1,000 queues, also when requests name them at once', async () => {
  await api.db.query(
    `INSERT INTO queues (id, workspace_id, name) SELECT gen_random_uuid(), $1, 'q' || n FROM generate_series(1, 998) n`,
    [fromId('ws', owner.workspaceId)],
  )
  const name = (_: unknown, i: number) => ofOwner('POST', `${root}/tasks`, aTaskBody({ queue: `new${i}` }))
  const answers = await Promise.all(Array.from({ length: 6 }, name))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409])
  const refused = [
    await ofOwner('PUT', `${root}/queues/other`),
    await ofOwner('POST', '/api/events', { ...event, queue: 'other' }),
    await ofOwner('POST', `${root}/cronjobs`, { ...cronJob, queue: 'other' }),
    await ofOwner('POST', `${root}/subscriptions`, { topic: 't', url, queue: 'other' }),
  ]
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array(4).fill([409, 'conflict']))
  const qstash = [
    await ofOwner('POST', `/v2/enqueue/other/${url}`, 'x'),
    await ofOwner('POST', '/v2/queues', { queueName: 'other' }),
    await ofOwner('POST', '/v2/flowControl/other/pin?rate=1'),
  ]
  expect(qstash.map(({ status }) => status)).toEqual([409, 409, 409])
  expect((await ofOwner('POST', `${root}/tasks`, aTaskBody({ queue: 'q1' }))).status).toBe(201)
})

describe('a key that may only publish', () => {
  const cron = { 'Upstash-Cron': '* * * * *', 'Upstash-Schedule-Id': 'backup' }

  it.each([`/v2/schedules/${url}`, `/v2/publish/${url}`, `/v2/enqueue/q/${url}`])(
    'creates and replaces no schedule through %s',
    async path => {
      const publish = await keyWith('publish')
      expect((await publish('POST', path, 'x', cron)).status).toBe(403)
      expect((await ofOwner('GET', `${root}/cronjobs`)).body.data).toEqual([])
      await ofOwner('POST', `/v2/schedules/${url}`, 'x', { ...cron, 'Upstash-Cron': '0 3 1 1 *' })
      expect((await publish('POST', path, 'x', cron)).status).toBe(403)
      expect((await ofOwner('GET', `${root}/cronjobs`)).body.data).toMatchObject([{ cron: '0 3 1 1 *' }])
      expect(await names()).toEqual([])
      const both = await keyWith('publish', 'cron_job.write')
      expect((await both('POST', path, 'x', cron)).status).toBe(201)
    },
  )
})
