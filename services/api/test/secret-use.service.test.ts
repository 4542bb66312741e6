import { beforeAll, expect, it } from 'vitest'
import { aTaskBody, type Caller, type Json, lastStatus, useApi } from './setup.ts'

const api = useApi({ QSTASH_API: 'on' })
const root = '/api/v1/scheduler'
const url = 'https://example.com/'
const event = { topic: 't', payload: {} }
const job = { name: 'J', url, method: 'POST', cron: '0 0 1 1 *' }

type Send = (method: string, path: string, body?: Json, headers?: Record<string, string>) => Promise<Json>
let owner: Caller
let full: Send
let task: string
let cancelled: string
let cronJob: string
let subscription: string
beforeAll(async () => {
  owner = await api.signUp()
  full = sendAs(owner.apiKey)
  const secrets = `/api/v1/workspaces/${owner.workspaceId}/secrets`
  await full('PUT', `${secrets}/ANYWHERE`, { value: 'a long value' })
  await full('PUT', `${secrets}/BOUND`, { value: 'a long value', allowed_hosts: ['example.com'] })
  task = (await full('POST', `${root}/tasks`, aTaskBody())).body.id
  cancelled = await cancelledTask(aTaskBody())
  cronJob = (await full('POST', `${root}/cronjobs`, job)).body.id
  subscription = (await full('POST', `${root}/subscriptions`, { topic: 't', url })).body.id
})

async function cancelledTask(body: Json): Promise<string> {
  const { id } = (await full('POST', `${root}/tasks`, body)).body
  await full('DELETE', `${root}/tasks/${id}`)
  return id
}

function sendAs(key: string): Send {
  return (method, path, body, headers) => api.send(method, path, body, { Authorization: `Bearer ${key}`, ...headers })
}

async function keyWith(...scopes: string[]): Promise<Send> {
  const path = `/api/v1/workspaces/${owner.workspaceId}/api-keys`
  const { body } = await api.send('POST', path, { name: 'A', scopes }, { Authorization: `Bearer ${owner.token}` })
  return sendAs(body.key)
}

const ofJson = { 'Content-Type': 'application/json' }
const cron = { 'Upstash-Cron': '0 0 1 1 *' }
const writing = ['publish', 'task.write', 'cron_job.write', 'subscription.write', 'read']

/** Gives what another caller has written another target. */
async function move(send: Send, kind: string, body: Json): Promise<Json> {
  const created = await full('POST', `${root}/${kind}`, body)
  return send('PATCH', `${root}/${kind}/${created.body.id}`, { url: `${url}moved` })
}

let groups = 0

/** Gives an endpoint that another caller has written another target. */
async function moveEndpoint(send: Send, secret: string, endpoints: (name: string) => Json[]): Promise<Json> {
  const topic = `group-${groups++}`
  await full('POST', `/v2/topics/${topic}/endpoints`, { endpoints: [{ name: topic, url }] })
  const { data } = (await full('GET', `${root}/subscriptions`)).body
  const { id } = data.find((one: Json) => one.topic === topic)
  await full('PATCH', `${root}/subscriptions/${id}`, { headers: { 'X-Key': secret } })
  return send('POST', `/v2/topics/${topic}/endpoints`, { endpoints: endpoints(topic) })
}

/** Each way to send a reference to a secret. */
const doors: Record<string, (send: Send, reference: string) => Promise<Json>> = {
  'the URL of a task': (send, s) => send('POST', `${root}/tasks`, aTaskBody({ url: `${url}?key=${s}` })),
  'a header of a task': (send, s) => send('POST', `${root}/tasks`, aTaskBody({ headers: { 'X-Key': s } })),
  'a payload': (send, s) => send('POST', `${root}/tasks`, aTaskBody({ payload: { key: s } })),
  'an escaped text': (send, s) => {
    const headers = { 'Content-Type': 'text/plain' }
    const body = aTaskBody({ headers, payload: s })
    return send('POST', `${root}/tasks`, JSON.stringify(body).replaceAll('{{', '\\u007b{'), ofJson)
  },
  'a callback': (send, s) =>
    send('POST', `${root}/tasks`, aTaskBody({ on_failure: { url, headers: { Authorization: s } } })),
  'a batch': (send, s) => send('POST', `${root}/tasks/batch`, { tasks: [aTaskBody({ payload: [s] })] }),
  'a changed task': (send, s) => send('PATCH', `${root}/tasks/${task}`, { headers: { 'X-Key': s } }),
  'a replay with changes': (send, s) => send('POST', `${root}/tasks/${cancelled}/replay`, { headers: { 'X-Key': s } }),
  'a replay of the task of another caller': async (send, s) => {
    const id = await cancelledTask(aTaskBody({ headers: { 'X-Key': s } }))
    return send('POST', `${root}/tasks/${id}/replay`, { url: `${url}moved` })
  },
  'an event with a target': (send, s) => send('POST', '/api/events', { ...event, target_url: `${url}${s}` }),
  'an event for subscriptions': (send, s) => send('POST', '/api/events', { ...event, payload: { key: s } }),
  'a cron job': (send, s) => send('POST', `${root}/cronjobs`, { ...job, payload: { key: s } }),
  'a changed cron job': (send, s) => send('PATCH', `${root}/cronjobs/${cronJob}`, { payload: { key: s } }),
  'a subscription': (send, s) => send('POST', `${root}/subscriptions`, { topic: 'u', url, headers: { 'X-Key': s } }),
  'a changed subscription': (send, s) => send('PATCH', `${root}/subscriptions/${subscription}`, { url: `${url}${s}` }),
  'a message': (send, s) => send('POST', `/v2/publish/${url}`, 'x', { 'Upstash-Forward-X-Key': s }),
  'a schedule': (send, s) => send('POST', `/v2/schedules/${url}`, '', { ...cron, 'Upstash-Forward-X-Key': s }),
  'a replaced schedule': async (send, s) => {
    const headers = { ...cron, 'Upstash-Schedule-Id': 'replaced' }
    expect((await full('POST', `/v2/schedules/${url}`, '', headers)).status).toBe(201)
    return send('POST', `/v2/schedules/${url}`, '', { ...headers, 'Upstash-Forward-X-Key': s })
  },
  'a task of another caller': (send, s) => move(send, 'tasks', aTaskBody({ headers: { 'X-Key': s } })),
  'a cron job of another caller': (send, s) => move(send, 'cronjobs', { ...job, payload: s }),
  'a subscription of another caller': (send, s) =>
    move(send, 'subscriptions', { topic: 'u', url, headers: { 'X-Key': s } }),
  'an endpoint of another caller': (send, s) => moveEndpoint(send, s, name => [{ name, url: `${url}moved` }]),
  'an endpoint of another caller, which the request has named before': (send, s) =>
    moveEndpoint(send, s, name => [
      { name: `${name}-new`, url },
      { name: `${name}-new`, url: `${url}moved` },
    ]),
  'an endpoint of a URL group': (send, s) =>
    send('POST', '/v2/topics/a-group/endpoints', { endpoints: [{ url: `${url}${s}` }] }),
}

it.each(Object.keys(doors))(
  '%s refers to a secret without allowed_hosts only with the right secret.use',
  async name => {
    const door = doors[name] as (typeof doors)[string]
    const narrow = await keyWith(...writing)
    for (const secret of ['ANYWHERE', 'NOT_YET_THERE']) {
      const refused = await door(narrow, `{{ secrets.${secret} }}`)
      expect([secret, lastStatus(refused), refused.text]).toEqual([secret, 403, expect.stringContaining(secret)])
    }
    expect(lastStatus(await door(narrow, '{{ secrets.BOUND }}'))).toBeLessThan(300)
    const allowed = await keyWith(...writing, 'secret.use')
    expect(lastStatus(await door(allowed, '{{ secrets.ANYWHERE }}'))).toBeLessThan(300)
    expect(lastStatus(await door(full, '{{ secrets.ANYWHERE }}'))).toBeLessThan(300)
  },
)
