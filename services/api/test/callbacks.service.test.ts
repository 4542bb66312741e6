import { randomUUID } from 'node:crypto'
import { type FinishedAttempt, recordAttempts } from '@belfry/db/tasks/record-attempts'
import { claimTasks } from '@belfry/db/test/claim-tasks'
import { fromId } from '@belfry/domain/id'
import { describe, expect, it, vi } from 'vitest'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi()
const root = '/api/v1/scheduler'
const done = { url: 'https://example.com/done' }
const defaults = {
  headers: {},
  retry: { max_retries: 5, backoff: 'exponential', base_delay_ms: 10_000, max_delay_ms: 3_600_000 },
  timeout_ms: 30_000,
}
const failed = { status: 'failed', state: 'dead', errorCode: 'http_status', errorMessage: 'Status 500.' } as const
const none = { on_success: null, on_failure: null, on_attempt: null }
const cronJob = { name: 'Nightly', url: 'https://example.com/', method: 'POST', cron: '* * * * *' }

async function get(path: string): Promise<Json> {
  return (await api.call('GET', `${root}${path}`)).body
}

/** Publishes an event, and records one attempt of its task. */
async function attempt(fields: object, outcome: Partial<FinishedAttempt> = {}): Promise<Json> {
  const event = { topic: 'orders.paid', payload: { n: 1 }, target_url: 'https://example.com/hook', ...fields }
  const { body } = await api.call('POST', '/api/events', event)
  const id = body.tasks[0].id
  const request = { taskId: fromId('task', id) ?? '', token: randomUUID() }
  // The time of an event is rounded, so its task may be due in the next millisecond.
  const claimed = await vi.waitFor(async () => {
    const [claim] = await claimTasks(api.db, { dispatcherId: randomUUID() }, [request])
    if (claim?.kind !== 'claimed') throw new Error(`Not claimed but ${claim?.kind}.`)
    return claim.task
  }, 15_000)
  const finished: FinishedAttempt = {
    ...{ taskId: claimed.taskId, runId: claimed.runId, state: 'success', retryDelayMs: null, status: 'success' },
    ...{ scheduledAt: claimed.scheduledAt, startedAt: claimed.claimedAt, finishedAt: claimed.claimedAt },
    ...{ requestHeaders: '{}', responseStatus: 200, responseHeaders: '{"x-own":["a","b"]}' },
    ...{ responseBody: Buffer.from('done: ü'), responseBytes: 8, responseTruncated: false },
    ...{ errorCode: null, errorMessage: null },
    ...outcome,
  }
  await recordAttempts(api.db, [finished])
  return get(`/tasks/${id}`)
}

describe('callbacks in requests', () => {
  it('get their defaults, and are shown in every answer', async () => {
    const given = { url: 'https://example.com/failed', headers: { 'X-Own': '{{ secrets.TOKEN }}' }, timeout_ms: 5000 }
    const { status, body } = await api.call('POST', `${root}/tasks`, aTaskBody({ on_success: done, on_failure: given }))
    expect(status).toBe(201)
    const shown = { ...none, on_success: { ...defaults, ...done }, on_failure: { ...defaults, ...given } }
    expect(body).toMatchObject(shown)
    expect(await get(`/tasks/${body.id}`)).toMatchObject(shown)
    const batch = { tasks: [aTaskBody({ on_attempt: done })] }
    const { data } = (await api.call('POST', `${root}/tasks/batch`, batch)).body
    expect(data[0].task.on_attempt).toEqual({ ...defaults, ...done })
  })

  it('change one by one, and null removes one', async () => {
    const { body } = await api.call('POST', `${root}/tasks`, aTaskBody({ on_success: done, on_failure: done }))
    const other = { url: 'https://example.com/other' }
    const path = `${root}/tasks/${body.id}`
    const changed = await api.call('PATCH', path, { on_failure: other })
    expect(changed.body).toMatchObject({ on_success: { ...defaults, ...done }, on_failure: { ...defaults, ...other } })
    expect((await api.call('PATCH', path, { on_success: null, on_failure: null })).body).toMatchObject(none)
    expect((await api.call('PATCH', path, { on_attempt: other })).body.on_attempt).toEqual({ ...defaults, ...other })
  })

  it('of a cron job go to its occurrences, also after a change', async () => {
    const { body: job } = await api.call('POST', `${root}/cronjobs`, { ...cronJob, on_success: done })
    expect(job.on_success).toEqual({ ...defaults, ...done })
    const occurrences = () => get(`/tasks?cronjob_id=${job.id}&state=pending`)
    expect((await occurrences()).data[0].on_success).toEqual({ ...defaults, ...done })
    const change = { on_success: null, on_failure: done }
    expect((await api.call('PATCH', `${root}/cronjobs/${job.id}`, change)).body).toMatchObject({
      ...{ on_success: null, on_failure: { ...defaults, ...done } },
    })
    for (const task of (await occurrences()).data)
      expect(task).toMatchObject({ ...none, on_failure: { url: done.url } })
    const { body: triggered } = await api.call('POST', `${root}/cronjobs/${job.id}/trigger`)
    expect(triggered.on_failure).toEqual({ ...defaults, ...done })
  })

  it('of an event replace those of a subscription, one by one', async () => {
    const own = { url: 'https://example.com/own' }
    const subscription = { topic: 'with.callbacks', url: 'https://example.com/', on_success: own, on_failure: own }
    const { body } = await api.call('POST', `${root}/subscriptions`, subscription)
    expect(body).toMatchObject({ ...none, on_success: { ...defaults, ...own }, on_failure: { ...defaults, ...own } })
    const event = { topic: 'with.callbacks', payload: {}, on_success: done }
    const { body: published } = await api.call('POST', '/api/events', event)
    expect(published.tasks).toMatchObject([{ on_success: { url: done.url }, on_failure: { url: own.url } }])
    const path = `${root}/subscriptions/${body.id}`
    expect((await api.call('PATCH', path, { on_failure: null })).body).toMatchObject({
      ...{ on_success: { url: own.url }, on_failure: null },
    })
  })

  it.each([
    ['a private address', { url: 'http://192.168.0.1/' }, 'on_success.url', 'blocked_address'],
    ['no URL', {}, 'on_success.url', 'required'],
    ['a text', 'https://example.com/', 'on_success', 'invalid_type'],
    ['a method', { ...done, method: 'PUT' }, 'on_success.method', 'unknown_field'],
    ['a callback of its own', { ...done, on_success: done }, 'on_success.on_success', 'unknown_field'],
    [
      'a header of Belfry',
      { ...done, headers: { 'webhook-id': 'x' } },
      'on_success.headers.webhook-id',
      'invalid_header',
    ],
    ['too many retries', { ...done, retry: { max_retries: 21 } }, 'on_success.retry.max_retries', 'out_of_range'],
  ])('are refused with %s', async (_, on_success, path, code) => {
    const subscription = { topic: 'a', url: 'https://example.com/', on_success }
    const answers = await Promise.all([
      api.call('POST', `${root}/tasks`, aTaskBody({ on_success })),
      api.call('POST', `${root}/cronjobs`, { ...cronJob, on_success }),
      api.call('POST', '/api/events', { topic: 'a', payload: {}, on_success }),
      api.call('POST', `${root}/subscriptions`, subscription),
    ])
    for (const { status, body } of answers) {
      expect(status).toBe(400)
      expect(body.errors).toContainEqual(expect.objectContaining({ path, code }))
    }
  })
})

describe('the callback of a task', () => {
  it.each([
    ['text', {}],
    ['bytes', { responseBody: Buffer.from([0, 1, 255]), responseBytes: 3 }],
    [
      'no response',
      { ...failed, responseStatus: null, responseHeaders: null, responseBody: null, responseBytes: null },
    ],
    ['timings', { timings: { dnsMs: 4, connectMs: 11, tlsMs: null, firstByteMs: 42 }, waitedFor: 'slot' } as const],
    ['a retry', { ...failed, state: 'retrying', retryDelayMs: 60_000, responseTruncated: true } as const],
  ])('has the task and the run as the API shows them, with %s', async (_, outcome) => {
    const task = await attempt({ on_attempt: done }, outcome)
    const [callback] = (await get(`/tasks?callback_of=${task.id}`)).data
    expect(callback).toMatchObject({ source: 'callback', callback_of: task.id, url: done.url, ...none, method: 'POST' })
    const { request: __, response, ...run } = await get(`/runs/${task.last_run.id}`)
    expect(callback.payload.task).toEqual(task)
    const { response: reported, ...rest } = callback.payload.run
    expect(rest).toEqual(run)
    if (response === null) return expect(reported).toBeNull()
    const { body, body_encoding, ...others } = response
    const isText = body_encoding === 'utf8'
    expect(reported).toEqual({ ...others, body: isText ? body : null, body_base64: isText ? null : body })
  })

  it.each([
    ['bytes that are no text', Buffer.from([0, 255, 1]), false, { body: null, body_base64: 'AP8B' }],
    ['a zero byte', Buffer.from('a\0b'), false, { body: null, body_base64: 'YQBi' }],
    ['no body', null, false, { body: '', body_base64: null }],
    ['text that ends within a character', Buffer.from('ok é').subarray(0, 4), true, { body: 'ok ', body_base64: null }],
    ['90 KB of bytes', Buffer.alloc(90_000, 255), true, { body: null, body_base64: '/'.repeat(120_000) }],
    ['text of every kind', Buffer.from('"\\\u0001 ü 😀'), false, { body: '"\\\u0001 ü 😀', body_base64: null }],
    ['references to secrets', Buffer.from('{{{ secrets.KEY }}}'), false, { body: '{{{ secrets.KEY }}}' }],
  ])('has a response with %s', async (_, responseBody, responseTruncated, shown) => {
    const task = await attempt({ on_attempt: done }, { responseBody, responseTruncated })
    const [callback] = (await get(`/tasks?callback_of=${task.id}`)).data
    expect(callback.payload.run.response).toMatchObject(shown)
  })

  it('has the same payload in a replay, and its own after a change', async () => {
    const task = await attempt({ on_attempt: done })
    const [callback] = (await get(`/tasks?callback_of=${task.id}`)).data
    await api.db.query(`UPDATE tasks SET state = 'success', finished_at = now() WHERE id = $1`, [
      fromId('task', callback.id),
    ])
    const { body: copy } = await api.call('POST', `${root}/tasks/${callback.id}/replay`)
    expect(copy.payload).toEqual(callback.payload)
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const { body: other } = await api.call('PATCH', `${root}/tasks/${copy.id}`, {
      execute_at: later,
      payload: { n: 2 },
    })
    expect(other.payload).toEqual({ n: 2 })
  })

  it('is found by its source, and by its task', async () => {
    const [one, other] = [await attempt({ on_success: done, on_attempt: done }), await attempt({ on_success: done })]
    expect((await get(`/tasks?callback_of=${one.id}`)).data).toHaveLength(2)
    expect((await get(`/tasks?callback_of=${one.id}&callback_of=${other.id}&source=callback`)).data).toHaveLength(3)
    expect((await get(`/tasks?callback_of=${one.id}&state=dead`)).data).toEqual([])
    const all = (await get('/tasks?source=callback&limit=100')).data
    expect(all.every((task: Json) => task.source === 'callback')).toBe(true)
    const stranger = await api.signUp()
    const path = `${root}/tasks?callback_of=${one.id}`
    expect((await api.send('GET', path, undefined, { 'X-Api-Key': stranger.apiKey })).body.data).toEqual([])
  })

  it('cannot have callbacks of its own', async () => {
    const { id } = await attempt({ on_success: done })
    const [callback] = (await get(`/tasks?callback_of=${id}`)).data
    const path = `${root}/tasks/${callback.id}`
    expect(await api.call('PATCH', path, { on_success: done })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
    expect((await api.call('PATCH', path, { url: 'https://example.com/moved' })).body.url).toContain('/moved')
  })
})
