import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'
const subscriptions = '/api/v1/scheduler/subscriptions'
const retry = { max_retries: 2, backoff: 'fixed', base_delay_ms: 1000, max_delay_ms: 1000 }

describe.each(queueBackends().slice(0, propertyRuns(2, 1)))('with the queue on %s', backend => {
  const belfry = useBelfry(backend)
  let target: Receiver
  beforeAll(async () => {
    target = await startReceiver()
  })
  afterAll(() => target?.close())

  const header = (path: string, name: string) => {
    const raw = target.requestsTo(path)[0]?.rawHeaders ?? []
    return raw[raw.findIndex(each => each.toLowerCase() === name) + 1]
  }
  const inState = (id: string, state: string) =>
    waitFor(
      async () => (await belfry.call('GET', `${tasks}/${id}`)).body,
      task => task.state === state,
    )

  it('an event is sent at once, byte for byte, with its topic', async () => {
    const body = `{"topic":"orders.paid","payload":{"n":1.10},"target_url":"${target.url('/event')}"}`
    const { body: event } = await belfry.call('POST', '/api/events', body)
    await target.waitFor(requests => requests.some(({ path }) => path === '/event'))
    const [request] = target.requestsTo('/event')
    expect([request?.method, request?.body.toString()]).toEqual(['POST', '{"n":1.10}'])
    expect(header('/event', 'x-belfry-topic')).toBe('orders.paid')
    expect(header('/event', 'webhook-id')).toBe(event.tasks[0].id)
    const { last_run } = await inState(event.tasks[0].id, 'success')
    const { body: run } = await belfry.call('GET', `/api/v1/scheduler/runs/${last_run.id}`)
    expect(run).toMatchObject({ source: 'event', topic: 'orders.paid', status: 'success' })
  })

  it('only the failing one of two subscribers is tried again', async () => {
    target.answer('/fails-once', [{ status: 500 }, { status: 200 }])
    for (const path of ['/fails-once', '/well']) {
      await belfry.call('POST', subscriptions, { topic: 'two.*', url: target.url(path), retry })
    }
    const { body: event } = await belfry.call('POST', '/api/events', { topic: 'two.go', payload: {} })
    const [first, second] = await Promise.all(event.tasks.map((task: { id: string }) => inState(task.id, 'success')))
    expect([first.attempts, second.attempts]).toEqual([2, 1])
    expect([target.requestsTo('/fails-once').length, target.requestsTo('/well').length]).toEqual([2, 1])
  })

  it('a replay of a dead task is sent as a new task', async () => {
    target.answer('/dead', [{ status: 410 }, { status: 200 }])
    const event = { topic: 'dead', payload: { n: 1 }, target_url: target.url('/dead') }
    const { body: published } = await belfry.call('POST', '/api/events', event)
    const { id } = await inState(published.tasks[0].id, 'dead')
    const { body: replay } = await belfry.call('POST', `${tasks}/${id}/replay`)
    expect(replay).toMatchObject({ replay_of: id, event_id: published.id, source: 'event' })
    await inState(replay.id, 'success')
    const sent = target.requestsTo('/dead')
    expect(sent.map(({ body }) => body.toString())).toEqual(['{"n":1}', '{"n":1}'])
    const ids = sent.map(({ rawHeaders }) => rawHeaders[rawHeaders.indexOf('webhook-id') + 1])
    expect(ids).toEqual([id, replay.id])
    expect((await inState(id, 'dead')).attempts).toBe(1)
  })
})
