import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { useBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'
const runs = '/api/v1/scheduler/runs'
const soonRetries = { max_retries: 2, backoff: 'fixed', base_delay_ms: 1000 }

describe.each(queueBackends())('a task, with the queue on %s', backend => {
  const belfry = useBelfry(backend)
  let target: Receiver
  beforeAll(async () => {
    target = await startReceiver()
  })
  afterAll(() => target?.close())

  const create = async (path: string, aheadMs: number, more: Record<string, unknown> = {}) => {
    const body = { name: path, url: target.url(path), method: 'POST', execute_at: inMs(aheadMs), ...more }
    const created = await belfry.call('POST', tasks, body)
    expect(created.status).toBe(201)
    return created.body
  }
  const reaches = (id: string, state: string) =>
    waitFor(
      async () => (await belfry.call('GET', `${tasks}/${id}`)).body,
      task => task.state === state,
    )

  it('is delivered once, never early, unchanged', async () => {
    const payload =
      '{"n":12345678901234567890,"p":1.10,"b":1,"a":2,"a":3,"s":"😀","z":"\\u0000\\ud83d\\udc00\\ude00","\\udfff\\u0000":0}'
    const dueAt = Date.now() + 2000
    const body = `{"name":"exact","url":"${target.url('/exact?x=1')}","method":"PUT","headers":{"X-Own":"yes"},
      "execute_at":"${new Date(dueAt).toISOString()}","payload":${payload}}`
    const { body: task } = await belfry.call('POST', tasks, body)
    const done = await reaches(task.id, 'success')
    const [request, ...more] = target.requestsTo('/exact')
    if (!request) throw new Error('The target was not called.')
    expect(more).toEqual([])
    expect(request.receivedAt).toBeGreaterThanOrEqual(dueAt)
    expect(request.body.toString()).toBe(payload)
    const headers = new Headers(pairs(request.rawHeaders))
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-own': 'yes',
      'content-type': 'application/json',
      'webhook-id': task.id,
      'x-belfry-task-id': task.id,
      'x-belfry-attempt': '1',
      'x-belfry-scheduled-at': task.execute_at,
      'x-belfry-depth': expect.stringMatching(/^1\./),
      'user-agent': expect.stringMatching(/^Belfry\//),
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    })
    expect(done).toMatchObject({
      attempts: 1,
      next_retry_at: null,
      last_run: { status: 'success', response_status: 200 },
    })

    const { body: run } = await belfry.call('GET', `${runs}/${done.last_run.id}`)
    expect(run).toMatchObject({
      id: headers.get('x-belfry-run-id'),
      task_id: task.id,
      task_name: 'exact',
      attempt: 1,
      status: 'success',
      scheduled_at: task.execute_at,
      response_status: 200,
      error: null,
      request: { url: target.url('/exact?x=1'), method: 'PUT', body: payload, body_truncated: false },
      response: { status: 200, body: '{"ok":true}', body_bytes: 11, body_truncated: false, body_encoding: 'utf8' },
    })
    expect(run.request.headers['X-Own']).toBe('yes')
    expect(run.request.headers['webhook-id']).toBe(task.id)
    expect(run.lag_ms).toBe(Date.parse(run.started_at) - Date.parse(run.scheduled_at))
    expect(run.lag_ms).toBeGreaterThanOrEqual(0)
    expect(run.timings).toMatchObject({
      connect_ms: expect.any(Number),
      tls_ms: null,
      first_byte_ms: expect.any(Number),
    })
  })

  it.concurrent('with a payload of 250 KB has the whole payload in its run', async () => {
    const payload = 'ü'.repeat(125_000)
    const task = await create('/large', 1000, { payload })
    const { last_run } = await reaches(task.id, 'success')
    expect(target.requestsTo('/large')[0]?.body.toString()).toBe(JSON.stringify(payload))
    const { body: run } = await belfry.call('GET', `${runs}/${last_run.id}`)
    expect(run.request).toMatchObject({ body: JSON.stringify(payload), body_truncated: false })
  })

  it.concurrent('that fails twice is retried at next_retry_at with the same webhook-id, and every attempt is logged', async () => {
    target.answer('/flaky', [
      { status: 500, body: 'no' },
      { status: 302, headers: { location: '/x' } },
      { status: 204 },
    ])
    const task = await create('/flaky', 1000, { retry: soonRetries })
    const retrying = await reaches(task.id, 'retrying')
    expect(retrying.attempts).toBe(1)
    const waitMs = Date.parse(retrying.next_retry_at) - Date.parse(retrying.updated_at)
    expect(waitMs).toBeGreaterThanOrEqual(900)
    expect(waitMs).toBeLessThan(1350)
    const done = await reaches(task.id, 'success')
    expect(done.attempts).toBe(3)
    const requests = target.requestsTo('/flaky')
    expect(requests).toHaveLength(3)
    expect(requests[1]?.receivedAt).toBeGreaterThanOrEqual(Date.parse(retrying.next_retry_at))
    expect(new Set(requests.map(request => new Headers(pairs(request.rawHeaders)).get('webhook-id')))).toEqual(
      new Set([task.id]),
    )
    const { body: log } = await belfry.call('GET', `${runs}?task_id=${task.id}`)
    const seen = log.data.map((run: Run) => [run.attempt, run.status, run.response_status, run.error?.code ?? null])
    expect(seen).toEqual([
      [3, 'success', 204, null],
      [2, 'failed', 302, 'http_status'],
      [1, 'failed', 500, 'http_status'],
    ])
    expect(target.requestsTo('/x')).toEqual([])
  })

  it.concurrent('is retried exactly after its listed delays, and then dead', async () => {
    target.answer('/listed', { status: 500 })
    const task = await create('/listed', 1000, { retry: { delays_ms: [0, 1_500] } })
    const second = await waitFor(
      async () => (await belfry.call('GET', `${tasks}/${task.id}`)).body,
      ({ state, attempts }) => state === 'retrying' && attempts === 2,
    )
    const waitMs = Date.parse(second.next_retry_at) - Date.parse(second.updated_at)
    expect(waitMs).toBeGreaterThanOrEqual(1_500)
    expect(waitMs).toBeLessThan(1_750)
    expect(await reaches(task.id, 'dead')).toMatchObject({ attempts: 3, retry: { delays_ms: [0, 1_500] } })
  })

  it.concurrent('that keeps failing is dead, and in the dead letters', async () => {
    target.answer('/down', { status: 503 })
    const task = await create('/down', 1000, { retry: { max_retries: 1, backoff: 'fixed', base_delay_ms: 1000 } })
    const dead = await reaches(task.id, 'dead')
    expect(dead).toMatchObject({
      attempts: 2,
      next_retry_at: null,
      last_run: { status: 'failed', response_status: 503 },
    })
    expect(target.requestsTo('/down')).toHaveLength(2)
    const { body: deadLetters } = await belfry.call('GET', '/api/v1/scheduler/dead-letters')
    expect(deadLetters.data.map((deadLetter: { id: string }) => deadLetter.id)).toContain(task.id)
    const { body: log } = await belfry.call('GET', `${runs}?status=failed&response_status=5xx&task_id=${task.id}`)
    expect(log.data).toHaveLength(2)
  })

  it.concurrent('whose target answers 410 is dead at once; whose target hangs ends at its deadline', async () => {
    target.answer('/gone', { status: 410 })
    const gone = await create('/gone', 1000)
    expect(await reaches(gone.id, 'dead')).toMatchObject({ attempts: 1 })
    target.answer('/hangs', { does: 'hang' })
    const hanging = await create('/hangs', 1000, { timeout_ms: 1000, retry: { max_retries: 0 } })
    const dead = await reaches(hanging.id, 'dead')
    const { body: run } = await belfry.call('GET', `${runs}/${dead.last_run.id}`)
    expect(run).toMatchObject({ error: { code: 'timeout' }, response: null })
    expect(run.duration_ms).toBeGreaterThanOrEqual(950)
    expect(run.duration_ms).toBeLessThan(2500)
  })

  it.concurrent('that is moved later while pending runs at its new time with its new body', async () => {
    const task = await create('/moved', 1500, { payload: 'old' })
    const executeAt = inMs(3000)
    const patched = await belfry.call('PATCH', `${tasks}/${task.id}`, { execute_at: executeAt, payload: 'new' })
    expect(patched.status).toBe(200)
    await reaches(task.id, 'success')
    const requests = target.requestsTo('/moved')
    expect(requests.map(request => request.body.toString())).toEqual(['"new"'])
    expect(requests[0]?.receivedAt).toBeGreaterThanOrEqual(Date.parse(executeAt))
  })

  it('whose DELETE was answered with 200 is never called; the others are called once', async () => {
    const dueAt = inMs(5000)
    const rows = Array.from({ length: propertyRuns(200, 50) }, (_, i) => {
      return { name: `${i}`, url: target.url(`/race/${i}`), method: 'POST', execute_at: dueAt }
    })
    // In one call: the API refuses 200 of them at once when the machine is busy.
    const { body: batch } = await belfry.call('POST', `${tasks}/batch`, { tasks: rows })
    const created: Array<{ id: string }> = batch.data.map(({ task }: { task: { id: string } }) => task)
    await waitFor(
      async () => Date.now(),
      now => now >= Date.parse(dueAt) - 30,
    )
    const answers = await Promise.all(created.map(task => belfry.call('DELETE', `${tasks}/${task.id}`)))
    const states = await Promise.all(
      created.map(task =>
        waitFor(
          async () => (await belfry.call('GET', `${tasks}/${task.id}`)).body.state,
          state => ['success', 'cancelled'].includes(state),
        ),
      ),
    )
    created.forEach((_, i) => {
      const calls = target.requestsTo(`/race/${i}`).length
      if (answers[i]?.status === 200) {
        expect([i, states[i], calls]).toEqual([i, 'cancelled', 0])
      } else {
        expect([i, answers[i]?.status, answers[i]?.body.code, states[i], calls]).toEqual([
          i,
          409,
          'task_not_pending',
          'success',
          1,
        ])
        expect(['processing', 'success']).toContain(answers[i]?.body.current_state)
      }
    })
  })
})

type Run = { attempt: number; status: string; response_status: number | null; error: { code: string } | null }

function pairs(rawHeaders: string[]): Array<[string, string]> {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? ''] as [string, string]] : []))
}
