import { describe, expect, it } from 'vitest'
import { aTaskBody, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'
const payload_base64 = Buffer.from('<order id="1">ü</order>').toString('base64')
const cronJob = { name: 'Nightly', url: 'https://example.com/', method: 'POST', cron: '* * * * *' }

const create = (changes: Record<string, unknown>) => api.call('POST', tasks, aTaskBody(changes))

describe('a raw body', () => {
  it('is kept with its content type, or that of bytes', async () => {
    const { status, body } = await create({ payload_base64, content_type: 'application/xml; charset=utf-8' })
    expect(status).toBe(201)
    const shown = { payload: null, payload_base64, content_type: 'application/xml; charset=utf-8' }
    expect(body).toMatchObject(shown)
    expect((await api.call('GET', `${tasks}/${body.id}`)).body).toMatchObject(shown)
    const bytes = await create({ payload_base64: '' })
    expect(bytes.body).toMatchObject({ payload_base64: '', content_type: 'application/octet-stream' })
    expect((await create({ payload: 1 })).body).toMatchObject({ payload: 1, payload_base64: null, content_type: null })
  })

  it('replaces a payload, and is replaced by one', async () => {
    const { body: task } = await create({ payload: { a: 1 } })
    const path = `${tasks}/${task.id}`
    const raw = { payload: null, payload_base64, content_type: 'text/plain' }
    expect((await api.call('PATCH', path, { payload_base64, content_type: 'text/plain' })).body).toMatchObject(raw)
    expect((await api.call('PATCH', path, { name: 'Other' })).body).toMatchObject(raw)
    const json = { payload: { b: 2 }, payload_base64: null, content_type: null }
    expect((await api.call('PATCH', path, { payload: { b: 2 } })).body).toMatchObject(json)
  })

  it('of a cron job goes to its occurrences, also after a change', async () => {
    const { body: job } = await api.call('POST', '/api/v1/scheduler/cronjobs', { ...cronJob, payload_base64 })
    const raw = { payload: null, payload_base64, content_type: 'application/octet-stream' }
    expect(job).toMatchObject(raw)
    const occurrences = async () => (await api.call('GET', `${tasks}?cronjob_id=${job.id}&state=pending`)).body.data
    expect((await occurrences())[0]).toMatchObject(raw)
    const change = { payload_base64: 'AP8=', content_type: 'image/png' }
    await api.call('PATCH', `/api/v1/scheduler/cronjobs/${job.id}`, change)
    for (const task of await occurrences()) expect(task).toMatchObject({ payload: null, ...change })
  })

  it('follows a replay', async () => {
    const { body: task } = await create({ payload_base64, content_type: 'image/gif' })
    await api.call('DELETE', `${tasks}/${task.id}`)
    const { body: copy } = await api.call('POST', `${tasks}/${task.id}/replay`)
    expect(copy).toMatchObject({ replay_of: task.id, payload: null, payload_base64, content_type: 'image/gif' })
  })

  it('may fill a request of 256 KiB', async () => {
    const body = JSON.stringify(aTaskBody({ payload_base64: '' }))
    const free = Math.floor((256 * 1024 - body.length) / 4) * 4
    expect((await create({ payload_base64: 'A'.repeat(free) })).status).toBe(201)
    expect((await create({ payload_base64: 'A'.repeat(free + 4) })).status).toBe(413)
  })

  it.each([
    ['a payload beside it', { payload: null, payload_base64 }, 'payload_base64', 'conflicting_fields'],
    ['no padding', { payload_base64: 'QQ' }, 'payload_base64', 'invalid_base64'],
    ['the alphabet of URLs', { payload_base64: 'A-_A' }, 'payload_base64', 'invalid_base64'],
    ['a line break', { payload_base64: 'QUFB\nQUFB' }, 'payload_base64', 'invalid_base64'],
    ['bytes', { payload_base64: [1] }, 'payload_base64', 'invalid_type'],
    ['only a content type', { content_type: 'text/plain' }, 'content_type', 'conflicting_fields'],
    ['no media type', { payload_base64, content_type: 'text' }, 'content_type', 'invalid_value'],
    ['a line break in it', { payload_base64, content_type: 'a/b\r\nX: 1' }, 'content_type', 'invalid_value'],
    [
      'two content types',
      { payload_base64, content_type: 'text/plain', headers: { 'CONTENT-TYPE': 'image/png' } },
      'content_type',
      'conflicting_fields',
    ],
  ])('is refused with %s', async (_, changes, path, code) => {
    const answers = [
      await create(changes),
      await api.call('POST', '/api/v1/scheduler/cronjobs', { ...cronJob, ...changes }),
    ]
    const { body: task } = await create({})
    answers.push(await api.call('PATCH', `${tasks}/${task.id}`, changes))
    for (const { status, body } of answers) {
      expect([status, body.errors]).toEqual([400, [expect.objectContaining({ path, code })]])
    }
  })
})
