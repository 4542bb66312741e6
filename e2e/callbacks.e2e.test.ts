import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { useBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'
const retry = { max_retries: 1, backoff: 'fixed', base_delay_ms: 1000, max_delay_ms: 1000 }

const belfry = useBelfry('postgres')
let target: Receiver
beforeAll(async () => {
  target = await startReceiver()
  const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/secrets/TOKEN`
  await belfry.call('PUT', path, { value: 'a secret value' })
})
afterAll(() => target?.close())

const callback = (path: string) => ({ url: target.url(path), headers: { Authorization: '{{ secrets.TOKEN }}' }, retry })

async function publish(fields: object) {
  const { body } = await belfry.call('POST', '/api/events', { topic: 'report', payload: { n: 1 }, retry, ...fields })
  return body.tasks[0]
}

async function received(path: string, count = 1) {
  await target.waitFor(() => target.requestsTo(path).length >= count, 15_000)
  return target.requestsTo(path).map(({ body, rawHeaders }) => {
    const pairs = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1]]] : []))
    return { body, headers: Object.fromEntries(pairs) as Record<string, string> }
  })
}

it('a callback arrives signed, with the task, the run and its own secrets', async () => {
  target.answer('/report', { status: 200, body: 'rows: {{ secrets.TOKEN }} ü' })
  const payload = { note: '{{ secrets.TOKEN }}' }
  const task = await publish({ target_url: target.url('/report'), payload, on_success: callback('/done') })
  const [done] = await received('/done')
  const { data } = (await belfry.call('GET', `/api/v1/workspaces/${belfry.caller.workspaceId}/signing-secrets`)).body
  new Webhook(data[0].secret).verify(done?.body.toString() ?? '', done?.headers ?? {})
  expect(done?.headers).toMatchObject({ authorization: 'a secret value', 'content-type': 'application/json' })
  const body = JSON.parse(done?.body.toString() ?? '')
  expect(body.task).toMatchObject({ id: task.id, state: 'success', payload })
  expect(body.run).toMatchObject({ attempt: 1, response: { status: 200, body: 'rows: {{ secrets.TOKEN }} ü' } })
  expect(done?.body.toString()).not.toContain('a secret value')
  const { body: list } = await belfry.call('GET', `${tasks}?callback_of=${task.id}`)
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual([done?.headers['webhook-id']])
})

it('a callback reports the final failure, and each attempt before it', async () => {
  target.answer('/broken', { status: 500, body: 'out of memory' })
  await publish({ target_url: target.url('/broken'), on_attempt: callback('/tried'), on_failure: callback('/failed') })
  const tried = (await received('/tried', 2)).map(({ body }) => JSON.parse(body.toString()))
  expect(tried.map(({ task, run }) => [task.state, run.attempt]).sort()).toEqual([
    ['dead', 2],
    ['retrying', 1],
  ])
  const [failed] = await received('/failed')
  expect(JSON.parse(failed?.body.toString() ?? '')).toMatchObject({
    task: { state: 'dead', attempts: 2 },
    run: { status: 'failed', error: { code: 'http_status' }, response: { status: 500, body: 'out of memory' } },
  })
})

it('a callback is retried under one webhook-id, and becomes a dead letter', async () => {
  target.answer('/refused', { status: 503 })
  const task = await publish({ target_url: target.url('/ok'), on_success: callback('/refused') })
  const refused = await received('/refused', 2)
  expect(new Set(refused.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  const deadLetters = async () => (await belfry.call('GET', '/api/v1/scheduler/dead-letters?source=callback')).body.data
  const [dead] = await waitFor(deadLetters, data => data.length === 1)
  expect(dead).toMatchObject({ callback_of: task.id, attempts: 2, url: target.url('/refused') })
})

it('a raw body arrives as the same bytes, on each attempt and after a replay', async () => {
  const bytes = Buffer.from(Array.from({ length: 2_000 }, (_, i) => i % 256))
  target.answer('/raw', [{ status: 500 }, { status: 200 }])
  const { body: task } = await belfry.call('POST', tasks, {
    ...{ name: 'Raw', url: target.url('/raw'), method: 'PUT', execute_at: inMs(1500), retry },
    ...{ payload_base64: bytes.toString('base64'), content_type: 'application/x-protobuf' },
  })
  await received('/raw', 2)
  await waitFor(
    async () => (await belfry.call('GET', `${tasks}/${task.id}`)).body,
    ({ state }) => state === 'success',
  )
  await belfry.call('POST', `${tasks}/${task.id}/replay`)
  const requests = await received('/raw', 3)
  for (const { body, headers } of requests) {
    expect(body.equals(bytes)).toBe(true)
    expect(headers['content-type']).toBe('application/x-protobuf')
  }
  const { last_run } = (await belfry.call('GET', `${tasks}/${task.id}`)).body
  const { request } = (await belfry.call('GET', `/api/v1/scheduler/runs/${last_run.id}`)).body
  expect(request).toMatchObject({ body: bytes.toString('base64'), body_encoding: 'base64' })
})

it('a raw body is text for the reader when it is text, and no secret is filled in', async () => {
  const text = '<a token="{{ secrets.TOKEN }}">ü</a>'
  const { body: task } = await belfry.call('POST', tasks, {
    ...{ name: 'Raw', url: target.url('/xml'), method: 'POST', execute_at: inMs(1500) },
    ...{ payload_base64: Buffer.from(text).toString('base64'), headers: { 'content-type': 'text/xml' } },
  })
  const [request] = await received('/xml')
  expect([request?.body.toString(), request?.headers['content-type']]).toEqual([text, 'text/xml'])
  const { last_run } = await waitFor(
    async () => (await belfry.call('GET', `${tasks}/${task.id}`)).body,
    ({ state }) => state === 'success',
  )
  const { body: run } = await belfry.call('GET', `/api/v1/scheduler/runs/${last_run.id}`)
  expect(run.request).toMatchObject({ body: text, body_encoding: 'utf8' })
})
