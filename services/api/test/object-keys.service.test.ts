import { describe, expect, it } from 'vitest'
import { type Answer, type Json, useApi } from './setup.ts'

const api = useApi()
const url = 'https://example.com/hook'

const kinds = [
  {
    path: '/api/v1/scheduler/cronjobs',
    body: { name: 'Nightly', url, method: 'POST', cron: '0 3 1 1 *' },
    change: { timezone: 'Europe/Berlin' },
  },
  { path: '/api/v1/scheduler/subscriptions', body: { topic: 'orders.*', url }, change: { active: false } },
  {
    path: '/api/v1/workspaces/current/integrations',
    body: { name: 'On call', channel: 'slack', url: 'https://hooks.slack.com/a', events: ['task.dead'] },
    change: { name: 'Ops' },
  },
]

describe.each(kinds)('the keys of $path', ({ path, body, change }) => {
  const create = (key: string): Promise<Answer> => api.call('POST', path, { ...body, key })
  const made = async (key: string): Promise<Json> => {
    const answer = await create(key)
    expect([answer.status, answer.body.key]).toEqual([201, key])
    return answer.body
  }

  it('are returned, kept by other changes, set, and removed', async () => {
    const { id } = await made('shop/a')
    expect((await api.call('GET', `${path}/${id}`)).body.key).toBe('shop/a')
    expect((await api.call('GET', path)).body.data.map(({ key }: Json) => key)).toContain('shop/a')
    expect((await api.call('PATCH', `${path}/${id}`, change)).body).toMatchObject({ ...change, key: 'shop/a' })
    expect((await api.call('PATCH', `${path}/${id}`, { key: 'shop/b' })).body.key).toBe('shop/b')
    expect((await api.call('PATCH', `${path}/${id}`, { key: null })).body.key).toBeNull()
    await made('shop/b')
  })

  it('belong to one object, also when many are created at once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create('shop/race')))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('key_in_use')
    const { id } = await made('shop/other')
    const refused = await api.call('PATCH', `${path}/${id}`, { key: 'shop/race' })
    expect([refused.status, refused.body.code]).toEqual([409, 'key_in_use'])
    expect((await api.call('GET', `${path}/${id}`)).body.key).toBe('shop/other')
  })

  it('have 1 to 128 characters', async () => {
    await made('k'.repeat(128))
    for (const key of ['', 'k'.repeat(129), 'two\nlines', 5]) {
      const refused = await api.call('POST', path, { ...body, key })
      expect(refused.status).toBe(400)
      expect(refused.body.errors).toMatchObject([{ path: 'key' }])
    }
  })
})

it('are free for another kind, and for another workspace', async () => {
  const [cronJobs, subscriptions] = kinds
  const other = { 'X-Api-Key': (await api.signUp()).apiKey }
  const answers = [
    await api.call('POST', cronJobs!.path, { ...cronJobs!.body, key: 'shared' }),
    await api.call('POST', subscriptions!.path, { ...subscriptions!.body, key: 'shared' }),
    await api.send('POST', cronJobs!.path, { ...cronJobs!.body, key: 'shared' }, other),
  ]
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
})

it('are kept when the creation is repeated with its idempotency key', async () => {
  const { path, body } = kinds[0]!
  const headers = { 'X-Api-Key': api.caller.apiKey, 'Idempotency-Key': 'once' }
  const repeat = () => api.send('POST', path, { ...body, key: 'repeated' }, headers)
  const [first, second] = [await repeat(), await repeat()]
  expect(second.body).toEqual(first.body)
})
