import { describe, expect, it } from 'vitest'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'
const batch = `${tasks}/batch`

describe('works', () => {
  it('creates tasks in order, and rejects only invalid rows', async () => {
    const before = await api.count('tasks')
    const rows = [
      aTaskBody({ name: 'first' }),
      aTaskBody({ url: 'http://10.0.0.1/' }),
      aTaskBody({ name: 'third' }),
      aTaskBody({ execute_at: '2020-01-01T00:00:00Z' }),
      'nonsense',
      aTaskBody({ executeAt: 1, method: 'post' }),
      aTaskBody({ payload: 'a'.repeat(300_000) }),
      aTaskBody({ name: 'last' }),
    ]
    const { status, body } = await api.call('POST', batch, { tasks: rows })
    expect(status).toBe(200)
    expect(body.data.map(({ index }: Json) => index)).toEqual(rows.map((_row, i) => i))
    expect(body.data.map((row: Json) => row.task?.name ?? row.error.code)).toEqual([
      'first',
      'validation_failed',
      'third',
      'validation_failed',
      'validation_failed',
      'validation_failed',
      'payload_too_large',
      'last',
    ])
    expect(body.data[1].error).toEqual({
      code: 'validation_failed',
      title: 'Validation failed',
      status: 400,
      detail: expect.any(String),
      errors: [{ path: 'url', code: 'blocked_address', message: expect.any(String) }],
    })
    expect(body.data[3].error.errors).toMatchObject([{ path: 'execute_at', code: 'execute_at_not_future' }])
    expect(body.data[5].error.errors.map(({ path }: Json) => path).sort()).toEqual(['executeAt', 'method'])
    expect(await api.count('tasks')).toBe(before + 3)
    const { task } = body.data[7]
    expect((await api.call('GET', `${tasks}/${task.id}`)).body).toEqual(task)
  })

  it('keeps each payload to the byte', async () => {
    const payloads = [
      '{"a":1.10, "b":[1,2]}',
      '"]"',
      '12345678901234567890',
      '{"a":1,"a":2}',
      '{"z":"\\u0000\\ud83d\\udc00\\ude00","\\udfff\\u0000":0}',
    ]
    const rows = payloads.map(payload => JSON.stringify(aTaskBody()).replace(/}$/, ` , "payload" : ${payload} }`))
    const answer = await api.call('POST', batch, `{ "tasks" : [ ${rows.join(' , ')} ] }`)
    for (const [i, payload] of payloads.entries()) {
      const stored = await api.call('GET', `${tasks}/${answer.body.data[i].task.id}`)
      expect(stored.text).toContain(`"payload":${payload}`)
    }
  })

  it('creates 1,000 tasks, each as large as the body allows', async () => {
    const before = await api.count('tasks')
    const payload = { text: 'a'.repeat(4_800), list: Array(20).fill({ a: 1 }) }
    const { status, body } = await api.call('POST', batch, { tasks: Array(1000).fill(aTaskBody({ payload })) })
    expect(status).toBe(200)
    expect(new Set(body.data.map((row: Json) => row.task.id)).size).toBe(1000)
    expect(await api.count('tasks')).toBe(before + 1000)
  })

  it('repeats its first response for the same Idempotency-Key', async () => {
    const body = { tasks: [aTaskBody(), aTaskBody({ url: 'nope' })] }
    const headers = { 'X-Api-Key': api.caller.apiKey, 'Idempotency-Key': 'batch' }
    const first = await api.send('POST', batch, body, headers)
    const before = await api.count('tasks')
    const second = await api.send('POST', batch, body, headers)
    expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    expect(await api.count('tasks')).toBe(before)
  })

  it('responds when every row is invalid', async () => {
    const { status, body } = await api.call('POST', batch, { tasks: [{}, null] })
    expect([status, body.data.map((row: Json) => row.error.status)]).toEqual([200, [400, 400]])
  })
})

describe('refuses', () => {
  it.each([
    ['no rows', { tasks: [] }, 400, 'validation_failed'],
    ['1,001 rows', { tasks: Array(1001).fill({}) }, 400, 'validation_failed'],
    ['rows that are no list', { tasks: {} }, 400, 'validation_failed'],
    ['another field', { tasks: [{}], name: 'a' }, 400, 'validation_failed'],
    ['more than 5 MiB', { tasks: [{ payload: 'a'.repeat(5 * 1024 * 1024) }] }, 413, 'payload_too_large'],
    ['U+0000 in one row', '{"tasks":[{"name":"\\u0000"}]}', 400, 'malformed_json'],
  ])('%s', async (_what, sent, status, code) => {
    const before = await api.count('tasks')
    const answer = await api.call('POST', batch, sent)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(await api.count('tasks')).toBe(before)
  })
})

it('a batch shows the pending tasks whose keys it keeps, up to 5 MiB of their payloads', async () => {
  const stored = await api.call('POST', tasks, aTaskBody({ key: 'large', payload: 'x'.repeat(250_000) }))
  const keep = (key: string) => aTaskBody({ key, on_conflict: 'keep' })
  const kept = await api.call('POST', batch, { tasks: [keep('large'), keep('fresh'), keep('large'), keep('fresh')] })
  expect(kept.status).toBe(200)
  expect(kept.body.data[0].task).toEqual(stored.body)
  expect(kept.body.data[2].task).toEqual(stored.body)
  expect(kept.body.data[3].task.id).toBe(kept.body.data[1].task.id)
  const before = await api.count('tasks')
  const many = await api.call('POST', batch, { tasks: [...Array(30).fill(keep('large')), keep('another')] })
  expect([many.status, many.body.code]).toEqual([413, 'payload_too_large'])
  expect(await api.count('tasks')).toBe(before)
})

describe('permits', () => {
  it('no request without a key', async () => {
    expect((await api.send('POST', batch, { tasks: [aTaskBody()] })).status).toBe(401)
  })
})
