import { newUuid, toId } from '@belfry/domain/id'
import { expect, it } from 'vitest'
import { payloadOf } from './payload-of.ts'

const ids = { task: newUuid(), workspace: newUuid(), run: newUuid() }
const at = (ms: number) => `2026-11-27T08:00:00.${String(ms).padStart(3, '0')}+00:00`
const retry = { max_retries: 2, backoff: 'fixed', base_delay_ms: 1000, max_delay_ms: 1000 }
const target = { url: 'https://example.com/done', headers: {}, retry, timeout_ms: 30_000 }

const task = {
  ...{
    id: ids.task,
    workspace_id: ids.workspace,
    source: 'event',
    state: 'dead',
    state_reason: null,
    attempts: 3,
    lost: 1,
  },
  ...{
    execute_at: at(0),
    due_at: at(10),
    created_at: at(0),
    updated_at: at(30),
    finished_at: at(30),
    expires_at: null,
  },
  ...{ key: null, cron_job_id: null, event_id: null, callback_of: null, replay_of: null, run_id: ids.run },
}
const request = {
  ...{ task_id: ids.task, name: 'A task', url: 'https://example.com/hook', method: 'POST', headers: '{"X-Own":"1"}' },
  ...{
    payload: '{"n":12345678901234567890, "s":"\\\\{{ secrets.KEY }}"}',
    content_type: null,
    topic: null,
    labels: null,
  },
  ...{
    callbacks: JSON.stringify({ on_failure: target }),
    queue: null,
    connection: null,
    qstash: null as string | null,
  },
  ...{ created_by: null, updated_by: null, ...retry, timeout_ms: 5000 },
}
const run = {
  ...{ id: ids.run, workspace_id: ids.workspace, task_id: ids.task, source: 'event', cron_job_id: null, topic: null },
  ...{ attempt: 3, status: 'failed', scheduled_at: at(10), started_at: at(12), finished_at: at(30), waited_for: null },
  ...{ timings: '[1,2,null,4]', error_code: 'http_status', error_message: 'Status 500.', response_status: 500 },
  ...{ response_headers: '{"x-a":["1","2"]}', response_bytes: 2, response_truncated: false },
  response_body: `\\x${Buffer.from('{{').toString('hex')}`,
}

const report = (rows: object = {}) =>
  payloadOf(
    { payload: JSON.stringify({ event: 'on_failure', task, request, run, ...rows }), isReport: true },
    ids.task,
    '',
  ) ?? ''

it('returns any other payload as it is stored', () => {
  expect(payloadOf({ payload: '{"task": {{' }, ids.task, '')).toBe('{"task": {{')
  expect(payloadOf({ payload: '{"a": 1 }', isReport: null }, ids.task, '')).toBe('{"a": 1 }')
  expect(payloadOf({ payload: null, isReport: true }, ids.task, '')).toBeNull()
})

it('returns the public form of the rows that a callback reports, without references to secrets', () => {
  const text = report()
  expect(report()).toBe(text)
  expect(text).toContain(String.raw`"payload":{"n":12345678901234567890, "s":"\\{\u007b secrets.KEY }}"}`)
  expect(text).not.toContain('{{')
  expect(JSON.parse(text)).toMatchObject({
    task: {
      ...{ id: toId('task', ids.task), state: 'dead', on_failure: target, on_success: null, labels: [], blocked: null },
      ...{ payload: { s: '\\{{ secrets.KEY }}' }, retry, next_retry_at: null, finished_at: '2026-11-27T08:00:00.030Z' },
      last_run: { id: toId('run', ids.run), status: 'failed', response_status: 500, error_code: 'http_status' },
    },
    run: {
      ...{ id: toId('run', ids.run), duration_ms: 18, lag_ms: 2, timings: { connect_ms: 2, tls_ms: null } },
      error: { code: 'http_status', message: 'Status 500.' },
      response: { status: 500, headers: { 'x-a': ['1', '2'] }, body: '{{', body_base64: null, body_bytes: 2 },
    },
  })
})

it('reports a task without a run', () => {
  expect(JSON.parse(report({ run: null }))).toMatchObject({ task: { last_run: null }, run: null })
})

it('returns the form of QStash for a callback of a message', () => {
  const qstash = JSON.stringify({ delaysMs: [], topicName: 'group', callerIP: '192.0.2.1' })
  const message = { ...request, qstash, payload: 'AP8=', content_type: 'image/png' }
  const shown = {
    ...{ status: 500, header: { 'X-A': ['1', '2'] }, body: 'e3s=', retried: 1, maxRetries: 2 },
    ...{ sourceMessageId: toId('msg', ids.task), topicName: 'group', url: request.url, method: 'POST' },
    ...{ sourceHeader: { 'X-Own': ['1'], 'Content-Type': ['image/png'] }, sourceBody: 'AP8=', callerIP: '192.0.2.1' },
    ...{ notBefore: Date.parse(at(0)), createdAt: Date.parse(at(0)), dlqId: toId('dlq', ids.task) },
  }
  expect(JSON.parse(report({ request: message }))).toEqual(shown)
  const { dlqId: _, ...attempt } = shown
  expect(JSON.parse(report({ request: message, event: 'on_attempt' }))).toEqual(attempt)
})

it('returns the error of a message whose target did not respond', () => {
  const message = { ...request, qstash: '{}', payload: null }
  const failed = {
    ...run,
    response_status: null,
    response_headers: null,
    response_body: null,
    error_message: 'Refused.',
  }
  const body = Buffer.from('Refused.').toString('base64')
  expect(JSON.parse(report({ request: message, run: failed }))).toMatchObject({
    status: 0,
    header: {},
    body,
    sourceBody: '',
  })
})

it('makes the body of an event for an MCP client, which the task identifies', () => {
  const payload = JSON.stringify({ name: 'reminder.due', data: { note: 'Ask for {{ secrets.KEY }}' } })
  const body = payloadOf({ payload, isReport: true }, ids.task, new Date(0)) ?? ''
  expect(body).not.toContain('{{')
  expect(JSON.parse(body)).toEqual({
    ...{ eventId: toId('task', ids.task), timestamp: '1970-01-01T00:00:00.000Z', cursor: null },
    ...{ name: 'reminder.due', data: { note: 'Ask for {{ secrets.KEY }}' } },
  })
})

it('leaves the bodies and the headers out of an event about a task', () => {
  const payload = JSON.stringify({ event: 'on_failure', mcp: 'task.dead', task, request, run })
  const { data, ...event } = JSON.parse(payloadOf({ payload, isReport: true }, ids.run, at(40)) ?? '')
  expect(event).toEqual({ eventId: toId('task', ids.run), timestamp: at(40), cursor: null, name: 'task.dead' })
  expect(data).toMatchObject({
    ...{ id: toId('task', ids.task), name: 'A task', url: request.url, state: 'dead', attempts: 3, labels: [] },
    last_run: { id: toId('run', ids.run), status: 'failed', response_status: 500, error_code: 'http_status' },
  })
  expect(Object.keys(data).filter(name => /payload|headers|body|retry$/.test(name))).toEqual([])
})
