import { briefFormOf } from '@belfry/contract/brief-forms'
import { type Action, decide, rights } from '@belfry/domain/permissions'
import { beforeAll, describe, expect, it } from 'vitest'
import { allRoutes } from './permissions/all-routes.ts'
import { keyWith as keyWithRights, personas } from './permissions/personas.ts'
import { aTaskBody, type Caller, type Json, useApi } from './setup.ts'

const api = useApi({ QSTASH_API: 'on' })
const root = '/api/v1/scheduler'
const secretUrl = 'https://example.com/hook?token=of-another'
const secretHeaders = { Authorization: 'Bearer of-another' }

let owner: Caller
let full: Send
beforeAll(async () => {
  owner = await api.signUp()
  full = sendAs(owner.apiKey)
})

type Send = (method: string, path: string, body?: Json, headers?: Record<string, string>) => Promise<Json>

function sendAs(key: string): Send {
  return (method, path, body, headers) => api.send(method, path, body, { Authorization: `Bearer ${key}`, ...headers })
}

async function keyWith(...scopes: string[]): Promise<Send> {
  const path = `/api/v1/workspaces/${owner.workspaceId}/api-keys`
  const { body } = await api.send('POST', path, { name: 'A', scopes }, { Authorization: `Bearer ${owner.token}` })
  return sendAs(body.key)
}

const taskId = expect.stringMatching(/^task_/)
const brief = { id: taskId, state: 'pending', created_at: expect.any(String) }

describe('a key that may create tasks and not read them', () => {
  it('gets the id, the state and the time of what it creates, alone and in a batch', async () => {
    const publish = await keyWith('publish')
    expect((await publish('POST', `${root}/tasks`, aTaskBody())).body).toEqual(brief)
    const tasks = [aTaskBody(), { name: 'invalid' }]
    const { body } = await publish('POST', `${root}/tasks/batch`, { tasks })
    expect(body.data).toEqual([
      { index: 0, task: brief },
      { index: 1, error: expect.objectContaining({ code: 'validation_failed', errors: expect.any(Array) }) },
    ])
  })

  it('is refused the rows of a batch that need another right, and no others', async () => {
    const publish = await keyWith('publish')
    const limited = aTaskBody({ queue: { name: 'limited', max_concurrent: 1 } })
    const tasks = [limited, aTaskBody({ payload: '{{ secrets.ANY }}' }), aTaskBody({ queue: 'plain' })]
    const { status, body } = await publish('POST', `${root}/tasks/batch`, { tasks })
    const refusal = (right: string) => ({ code: 'forbidden', status: 403, detail: expect.stringContaining(right) })
    expect([status, body.data]).toEqual([
      200,
      [
        { index: 0, error: expect.objectContaining(refusal('queue.write')) },
        { index: 1, error: expect.objectContaining(refusal('secret.use')) },
        { index: 2, task: brief },
      ],
    ])
  })

  it('does not see the task of another caller that has its key', async () => {
    const publish = await keyWith('publish')
    const own = aTaskBody({ key: 'a-guess', url: secretUrl, headers: secretHeaders, payload: { secret: 1 } })
    await full('POST', `${root}/tasks`, own)
    const guess = aTaskBody({ key: 'a-guess', on_conflict: 'keep' })
    expect(await publish('POST', `${root}/tasks`, guess)).toMatchObject({ status: 200, body: brief })
    const { text } = await publish('POST', `${root}/tasks/batch`, { tasks: [guess] })
    expect(text).not.toContain('of-another')
  })

  it('does not see the subscriptions that get its event', async () => {
    const publish = await keyWith('publish')
    await full('POST', `${root}/subscriptions`, { topic: 'orders.*', url: secretUrl, headers: secretHeaders })
    const { body } = await publish('POST', '/api/events', { topic: 'orders.paid', payload: {} })
    expect(body).toEqual({ id: expect.stringMatching(/^evt_/), topic: 'orders.paid', tasks: [{ id: taskId }] })
  })

  it('gets no more when the answer was kept for another caller', async () => {
    const publish = await keyWith('publish')
    const key = { 'Idempotency-Key': 'shared' }
    const body = aTaskBody({ url: secretUrl })
    const first = await full('POST', `${root}/tasks`, body, key)
    expect(first.body.url).toBe(secretUrl)
    const repeated = await publish('POST', `${root}/tasks`, body, key)
    expect(repeated.headers.get('idempotent-replayed')).toBe('true')
    expect(repeated.body).toEqual({ ...brief, id: first.body.id })
    expect((await full('POST', `${root}/tasks`, body, key)).body).toEqual(first.body)
  })
})

it('a key that may change things and not read them sees what identifies them', async () => {
  const change = await keyWith('task.write', 'task.delete', 'cron_job.write', 'subscription.write')
  const { id } = (await full('POST', `${root}/tasks`, aTaskBody({ url: secretUrl }))).body
  expect((await change('PATCH', `${root}/tasks/${id}`, { name: 'Renamed' })).body).toEqual({ ...brief, id })
  expect((await change('DELETE', `${root}/tasks/${id}`)).body).toEqual({ ...brief, id, state: 'cancelled' })
  const rule = { name: 'J', url: secretUrl, method: 'POST', cron: '0 0 1 1 *' }
  const job = (await full('POST', `${root}/cronjobs`, rule)).body
  const briefJob = { id: job.id, status: 'active', created_at: job.created_at }
  expect((await change('PATCH', `${root}/cronjobs/${job.id}`, { name: 'K' })).body).toEqual(briefJob)
  expect((await change('POST', `${root}/cronjobs/${job.id}/trigger`)).body).toEqual({ ...brief, state: 'pending' })
  const subscription = (await full('POST', `${root}/subscriptions`, { topic: 'a', url: secretUrl })).body
  const changed = await change('PATCH', `${root}/subscriptions/${subscription.id}`, { topic: 'b' })
  expect(changed.body).toEqual({ id: subscription.id, active: true, created_at: subscription.created_at })
})

const own = 'https://own.example/'
const callback = { on_attempt: { url: own } }

/** Each way to send what others have written to a target of the caller, with the right that it needs, and the right to read it. */
const receipts: Record<string, [right: string, read: string, send: (send: Send, change: Json) => Promise<Json>]> = {
  'a task': ['task.write', 'task.read', async (send, change) => patch(send, 'tasks', aTaskBody(), change)],
  'a replay': [
    'task.write',
    'task.read',
    async (send, change) => {
      const { id } = (await full('POST', `${root}/tasks`, aTaskBody())).body
      await full('DELETE', `${root}/tasks/${id}`)
      return send('POST', `${root}/tasks/${id}/replay`, change)
    },
  ],
  'a cron job': [
    'cron_job.write',
    'cron_job.read',
    (send, change) => patch(send, 'cronjobs', { name: 'J', url: secretUrl, method: 'POST', cron: '0 0 1 1 *' }, change),
  ],
  'a subscription': [
    'subscription.write',
    'subscription.read',
    (send, change) => patch(send, 'subscriptions', { topic: 'receipts', url: secretUrl }, change),
  ],
}

async function patch(send: Send, kind: string, body: Json, change: Json): Promise<Json> {
  const { id } = (await full('POST', `${root}/${kind}`, body)).body
  return send('PATCH', `${root}/${kind}/${id}`, change)
}

describe.each(Object.entries(receipts))('what others have written in %s', (_, [right, read, change]) => {
  it('goes to another target only for a caller who may read it', async () => {
    expect((await change(await keyWith(right), { url: own })).status).toBe(403)
    expect((await change(await keyWith(right, read), { url: own })).status).toBeLessThan(300)
  })

  it('goes to a new callback only for a caller who may read it, and the responses', async () => {
    for (const missing of [[], [read], ['run.read']])
      expect((await change(await keyWith(right, ...missing), callback)).status).toBe(403)
    expect((await change(await keyWith(right, read, 'run.read'), callback)).status).toBeLessThan(300)
    expect((await change(await keyWith(right), { on_attempt: null })).status).toBeLessThan(300)
  })
})

it('reports the calls of subscriptions only to the callback of a caller who may read them', async () => {
  await full('POST', '/v2/topics/reported/endpoints', { endpoints: [{ name: 'one', url: secretUrl }] })
  const publish = (send: Send) => send('POST', '/api/events', { topic: 'reported', payload: {}, ...callback })
  const ofGroup = (send: Send) => send('POST', '/v2/publish/reported', 'x', { 'Upstash-Callback': own })
  for (const door of [publish, ofGroup]) {
    expect((await door(await keyWith('publish'))).status).toBe(403)
    expect((await door(await keyWith('publish', 'subscription.read', 'run.read'))).status).toBeLessThan(300)
  }
  const direct = { topic: 't', target_url: own, payload: {}, ...callback }
  expect((await (await keyWith('publish'))('POST', '/api/events', direct)).status).toBe(202)
})

it('an endpoint of another caller moves only for a caller who may read it', async () => {
  const move = (send: Send, url: string) =>
    send('POST', '/v2/topics/to-move/endpoints', { endpoints: [{ name: 'one', url }] })
  await move(full, secretUrl)
  expect((await move(await keyWith('subscription.write'), own)).status).toBe(403)
  expect((await move(await keyWith('subscription.write', 'subscription.read'), own)).status).toBeLessThan(300)
})

/** The schemas that a schema contains, with itself. */
function* partsOf(schema: Json): Generator<Json> {
  yield schema
  const { shape = {}, element, options = [], innerType } = schema.def
  for (const part of [...Object.values(shape), ...options, element, innerType]) if (part) yield* partsOf(part)
}

const isRead = (right: string) => /\.(read|list)$/.test(right)

it('every answer that shows a thing to a caller who need not have the right to read it has a brief form', () => {
  const closed = allRoutes().filter(({ endpoint: { right, response } }) => right in rights && response.body)
  const readable = new Map<Json, Action>()
  for (const { endpoint } of closed) {
    const body: Json = endpoint.response.body
    if (isRead(endpoint.right)) readable.set(body.def.shape?.data?.def.element ?? body, endpoint.right as Action)
  }
  const mayLackRead = (right: Action, read: Action) =>
    [keyWithRights(right), ...personas].some(persona => {
      const actor = persona.actorIn(rights[right].scope)
      return actor !== null && decide(actor, right).allowed && !decide(actor, read).allowed
    })
  const shows = closed.flatMap(({ name, endpoint: { right, response } }) => {
    if (isRead(right)) return []
    const brief = briefFormOf(response.body, right)
    const things = [...partsOf(response.body)].filter(part =>
      mayLackRead(right as Action, readable.get(part) ?? (right as Action)),
    )
    return things.map(thing => ({ name, isBrief: brief !== undefined && ![...partsOf(brief.body)].includes(thing) }))
  })
  expect(shows.length).toBeGreaterThan(30)
  // A member who creates a workspace belongs to it.
  const whole = ['POST /api/v1/organizations/:org/workspaces']
  expect(shows.filter(({ isBrief }) => !isBrief).map(({ name }) => name)).toEqual(whole)
})

it('a key that publishes to a URL group does not see its endpoints', async () => {
  const endpoints = [{ name: 'one', url: secretUrl }]
  await full('POST', '/v2/topics/a-group/endpoints', { endpoints })
  expect((await full('POST', '/v2/publish/a-group', 'x')).text).toContain(secretUrl)
  const publish = await keyWith('publish')
  const { status, body } = await publish('POST', '/v2/publish/a-group', 'x')
  expect([status, body]).toEqual([201, [{ messageId: expect.stringMatching(/^msg_/) }]])
})

it('a search finds no kind that the key may not read, and upcoming work shows no cron jobs', async () => {
  await full('POST', `${root}/cronjobs`, { name: 'Needle', url: secretUrl, method: 'POST', cron: '*/5 * * * *' })
  await full('POST', `${root}/tasks`, aTaskBody({ name: 'Needle' }))
  const kinds = async (send: Send) =>
    (await send('GET', `${root}/search?q=needle`)).body.data.map(({ kind }: Json) => kind).sort()
  expect(await kinds(full)).toEqual(['cron_job', 'task'])
  expect(await kinds(await keyWith('run.read', 'task.read'))).toEqual(['task'])
  expect(await kinds(await keyWith('run.read'))).toEqual([])
  const upcoming = async (send: Send) => (await send('GET', `${root}/upcoming`)).body
  const { next, day } = await upcoming(await keyWith('task.read'))
  expect(next.every(({ task_id }: Json) => task_id !== null)).toBe(true)
  const total = (counts: Json) => counts.reduce((sum: number, { count }: Json) => sum + count, 0)
  expect(total(day)).toBeLessThan(total((await upcoming(full)).day) - 200)
})
