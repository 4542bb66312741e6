import { Belfry } from '@belfry/client'
import { expect, it } from 'vitest'
import type { Batch, OutboxRow } from './outbox.ts'
import { sendRows } from './send-rows.ts'

const aRow = (id: string): OutboxRow => ({
  id,
  position: 1,
  kind: 'task',
  body: '{"n":1.10}',
  batch: 'key',
  attempts: 1,
})
const one: Batch = [aRow('a')]
const two: Batch = [aRow('a'), aRow('b')]
const repeated: Batch = [
  { ...aRow('a'), attempts: 2 },
  { ...aRow('b'), attempts: 2 },
]

/** Sends a batch to a Belfry that answers this. */
async function outcomeOf(batch: Batch, status: number, body: unknown) {
  const requests: Request[] = []
  const fetch = async (url: unknown, init?: RequestInit) => {
    requests.push(new Request(String(url), init))
    if (status === 0) throw new TypeError('fetch failed')
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status })
  }
  const outcome = await sendRows(new Belfry({ apiKey: 'bf_key', fetch }), batch)
  expect(requests).toHaveLength(1)
  expect(requests[0]?.headers.get('Idempotency-Key')).toBe('key')
  return { ...outcome, text: await requests[0]?.text(), path: new URL(requests[0]?.url ?? '').pathname }
}

const problem = (status: number, code: string) => [status, { code, detail: `Because of ${code}.` }] as const

it('sends the bodies unchanged: a task, an event, and tasks together', async () => {
  const tasks = '/api/v1/scheduler/tasks'
  expect(await outcomeOf(one, 201, { id: 'task_1' })).toMatchObject({ path: tasks, text: '{"n":1.10}', stored: ['a'] })
  const event: Batch = [{ ...one[0], kind: 'event' }]
  expect(await outcomeOf(event, 202, { id: 'evt_1' })).toMatchObject({ path: '/api/events', stored: ['a'] })
  const text = '{"tasks":[{"n":1.10},{"n":1.10}]}'
  const answer = {
    data: [
      { index: 0, task: {} },
      { index: 1, error: { status: 503, detail: 'Its time passed.' } },
    ],
  }
  const sent = { path: `${tasks}/batch`, text, stored: ['a'], alone: ['b'] }
  expect(await outcomeOf(two, 200, answer)).toMatchObject(sent)
})

it.each([
  [400, 'rejected'],
  [409, 'rejected'],
  [402, 'alone'],
  [403, 'alone'],
  [404, 'alone'],
  [429, 'alone'],
] as const)('sends a row with the error %i in a batch as it would alone: %s', async (status, kind) => {
  const answer = { data: [{ error: { status, detail: 'Not now.' } }, { task: {} }] }
  const rejected = kind === 'rejected' ? [{ id: 'a', error: 'Not now.' }] : []
  expect(await outcomeOf(two, 200, answer)).toMatchObject({
    stored: ['b'],
    rejected,
    alone: rejected.length ? [] : ['a'],
  })
})

// Belfry may have stored them, and its answer was lost.
it.each([
  ['failure', ...problem(403, 'forbidden')],
  ['failure', 403, '<html>'],
  ['failure', 400, '<html>'],
  ['alone', ...problem(400, 'malformed_json')],
  ['alone', ...problem(402, 'quota_exceeded')],
  ['alone', 413, '<html>'],
] as const)('%s for rows that are sent again, after %s %j', async (kind, status, body) => {
  const { alone, failure } = await outcomeOf(repeated, status, body)
  expect([alone, failure !== null]).toEqual(kind === 'alone' ? [['a', 'b'], false] : [[], true])
})

it('says which fields of a rejected row are wrong', async () => {
  const errors = ['name is required.', 'Also.'].map(message => ({ path: 'name', code: 'required', message }))
  const wrong = { status: 400, detail: 'See errors.', errors }
  const rejected = [{ id: 'a', error: 'name is required. Also.' }]
  expect(await outcomeOf(one, 400, wrong)).toMatchObject({ rejected })
  expect(await outcomeOf(two, 200, { data: [{ error: wrong }, { task: {} }] })).toMatchObject({
    rejected,
    stored: ['b'],
  })
})

it.each([
  [{ 'Retry-After': '7' }, 429, 7_000],
  [{ 'Retry-After': '7' }, 503, 7_000],
  [{ 'Retry-After': '7' }, 500, 0],
  [{ 'Retry-After': '86400' }, 503, 600_000],
  [{}, 429, 0],
])('with %j of %i asks the relay to wait for %i ms', async (headers, status, waitMs) => {
  const fetch = async () => new Response('{}', { status, headers: headers as HeadersInit })
  const outcome = await sendRows(new Belfry({ apiKey: 'bf_key', fetch }), one)
  expect([outcome.failure !== null, outcome.waitMs]).toEqual([true, waitMs])
})

it.each([
  ['rejected', 'alone', ...problem(400, 'malformed_json')],
  ['rejected', 'alone', ...problem(409, 'key_in_use')],
  ['rejected', 'alone', ...problem(413, 'payload_too_large')],
  ['rejected', 'rejected', ...problem(409, 'idempotency_key_reused')],
  ['failure', 'failure', ...problem(409, 'idempotency_in_progress')],
  ['failure', 'alone', ...problem(402, 'quota_exceeded')],
  ['failure', 'alone', ...problem(403, 'forbidden')],
  ['failure', 'failure', ...problem(401, 'unauthenticated')],
  ['failure', 'failure', ...problem(404, 'not_found')],
  ['failure', 'failure', ...problem(429, 'rate_limited')],
  ['failure', 'failure', ...problem(500, 'internal')],
  ['failure', 'failure', 200, {}],
  ['failure', 'failure', 200, { data: [] }],
  ['failure', 'failure', 502, '<html>'],
  ['failure', 'alone', 400, '<html>'],
  ['failure', 'failure', 0, ''],
] as const)('%s for a row, and %s for rows, after %s %j', async (ofOne, ofTwo, status, body) => {
  for (const [batch, kind] of [
    [one, ofOne],
    [two, ofTwo],
  ] as const) {
    const { stored, rejected, alone, failure } = await outcomeOf(batch, status, body)
    const ids = batch.map(({ id }) => id)
    expect({ stored, rejected: rejected.map(({ id }) => id), alone, failure: failure !== null }).toEqual({
      stored: [],
      rejected: kind === 'rejected' ? ids : [],
      alone: kind === 'alone' ? ids : [],
      failure: kind === 'failure',
    })
  }
})
