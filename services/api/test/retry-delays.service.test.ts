import { describe, expect, it } from 'vitest'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi()
const root = '/api/v1/scheduler'
const retry = { delays_ms: [0, 5_000, 2_592_000_000] }
const policy = { max_retries: 5, backoff: 'exponential', base_delay_ms: 10_000, max_delay_ms: 3_600_000 }
const target = { url: 'https://example.com/hook', method: 'POST' }

async function post(path: string, body: object): Promise<Json> {
  const { status, body: answer } = await api.call('POST', path, body)
  expect([200, 201, 202]).toContain(status)
  return answer
}

async function retryOf(path: string): Promise<Json> {
  return (await api.call('GET', `${root}/${path}`)).body.retry
}

describe('a list of delays', () => {
  it('is kept by a task, also with an Idempotency-Key, and in a batch', async () => {
    const task = await post(`${root}/tasks`, aTaskBody({ retry }))
    expect([task.retry, await retryOf(`tasks/${task.id}`)]).toEqual([retry, retry])
    const headers = { 'X-Api-Key': api.caller.apiKey, 'Idempotency-Key': 'delays' }
    const keyed = await api.send('POST', `${root}/tasks`, aTaskBody({ retry }), headers)
    expect([keyed.body.retry, await retryOf(`tasks/${keyed.body.id}`)]).toEqual([retry, retry])
    const { data } = await post(`${root}/tasks/batch`, { tasks: [aTaskBody({ retry }), aTaskBody()] })
    expect(await Promise.all(data.map((row: Json) => retryOf(`tasks/${row.task.id}`)))).toEqual([retry, policy])
  })

  it('is kept by an event with a target, also with an Idempotency-Key', async () => {
    const event = { topic: 'a', payload: {}, target_url: target.url, retry }
    const { tasks } = await post('/api/events', event)
    expect(await retryOf(`tasks/${tasks[0].id}`)).toEqual(retry)
    const headers = { 'X-Api-Key': api.caller.apiKey, 'Idempotency-Key': 'delays-of-an-event' }
    const keyed = await api.send('POST', '/api/events', event, headers)
    expect(await retryOf(`tasks/${keyed.body.tasks[0].id}`)).toEqual(retry)
  })

  it('of a subscription and of a cron job is that of their tasks', async () => {
    const subscription = await post(`${root}/subscriptions`, { topic: 'orders.*', url: target.url, retry })
    expect(await retryOf(`subscriptions/${subscription.id}`)).toEqual(retry)
    const { tasks } = await post('/api/events', { topic: 'orders.paid', payload: {}, retry: { max_retries: 0 } })
    expect(await retryOf(`tasks/${tasks[0].id}`)).toEqual(retry)
    const job = await post(`${root}/cronjobs`, { ...target, name: 'Nightly', cron: '* * * * *', retry })
    expect(await retryOf(`cronjobs/${job.id}`)).toEqual(retry)
    const occurrences = (await api.call('GET', `${root}/tasks?cronjob_id=${job.id}`)).body.data
    expect(occurrences.length).toBeGreaterThan(0)
    for (const occurrence of occurrences) expect(occurrence.retry).toEqual(retry)
    const triggered = await post(`${root}/cronjobs/${job.id}/trigger`, {})
    expect(triggered.retry).toEqual(retry)
  })

  it('of a callback is stored with the callback', async () => {
    const task = await post(`${root}/tasks`, aTaskBody({ on_failure: { url: target.url, retry } }))
    expect(task.on_failure.retry).toEqual(retry)
  })

  it('is copied by a replay', async () => {
    const task = await post(`${root}/tasks`, aTaskBody({ retry }))
    await api.call('DELETE', `${root}/tasks/${task.id}`)
    const replay = await post(`${root}/tasks/${task.id}/replay`, {})
    expect([replay.replay_of, replay.retry]).toEqual([task.id, retry])
  })
})

describe('a change', () => {
  it.each([
    ['tasks', aTaskBody()],
    ['cronjobs', { ...target, name: 'Changed', cron: '0 0 1 1 *' }],
    ['subscriptions', { topic: 'changed', url: target.url }],
  ])('replaces a policy by a list, and a list by a policy: %s', async (kind, body) => {
    const { id } = await post(`${root}/${kind}`, body)
    const change = async (change: object) => {
      const { status } = await api.call('PATCH', `${root}/${kind}/${id}`, { retry: change })
      expect(status).toBe(200)
      return retryOf(`${kind}/${id}`)
    }
    expect(await change(retry)).toEqual(retry)
    expect(await change({})).toEqual(retry)
    expect(await change({ delays_ms: [7] })).toEqual({ delays_ms: [7] })
    expect(await change({ backoff: 'fixed', max_retries: 2 })).toEqual({ ...policy, backoff: 'fixed', max_retries: 2 })
    expect(await change(retry)).toEqual(retry)
    expect(await change({ base_delay_ms: 2_000 })).toEqual({
      ...policy,
      ...{ max_retries: 3, backoff: 'fixed', base_delay_ms: 2_000 },
    })
  })

  it('refuses a list beside a field of a policy, and changes nothing', async () => {
    const { id } = await post(`${root}/tasks`, aTaskBody({ retry }))
    const both = { retry: { delays_ms: [1], max_retries: 1 } }
    const { status, body } = await api.call('PATCH', `${root}/tasks/${id}`, both)
    expect([status, body.errors]).toMatchObject([400, [{ path: 'retry.delays_ms', code: 'conflicting_fields' }]])
    expect(await retryOf(`tasks/${id}`)).toEqual(retry)
  })
})
