import { expect, it } from 'vitest'
import { aTaskBody, useApi } from './setup.ts'

const api = useApi()

it.each([
  ['as it is', '/api/v1/scheduler/tasks'],
  ['with a query', '/api/v1/scheduler/tasks?'],
  ['with a slash behind it', '/api/v1/scheduler/tasks/'],
  ['in capital letters', '/API/V1/SCHEDULER/TASKS'],
])('takes the path %s', async (_how, path) => {
  const { status, headers } = await api.call('POST', path, aTaskBody())
  expect(status).toBe(201)
  for (const name of ['x-request-id', 'location']) expect(headers.get(name)).not.toBeNull()
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('cache-control')).toBe('no-store')
})

it('reads the query of a path that has one, and rejects unknown parameters', async () => {
  expect((await api.call('GET', '/api/v1/scheduler/tasks?limit=1')).body.data.length).toBeLessThanOrEqual(1)
  expect((await api.call('GET', '/api/v1/scheduler/tasks?limit=0')).body.errors[0].path).toBe('limit')
})

it('lists the methods of a path', async () => {
  const { status, headers, body } = await api.call('PUT', '/api/v1/scheduler/tasks', {})
  expect([status, body.code, headers.get('allow')]).toEqual([405, 'method_not_allowed', 'GET, POST'])
  const head = await fetch(`${api.url}/api/v1/scheduler/tasks`, {
    method: 'HEAD',
    headers: { 'X-Api-Key': api.caller.apiKey },
  })
  expect(head.status).toBe(200)
})

it.each(['/api/v1/tasks', '/api/api/events', '/api/v1'])('says that there is no path %s', async path => {
  const { status, body } = await api.call('POST', path, {})
  expect([status, body.code, body.detail]).toEqual([404, 'not_found', expect.stringContaining('There is no such path')])
})

it('does not log health checks, and sends them no API headers', async () => {
  const { status, headers } = await api.send('GET', '/healthz')
  expect([status, headers.get('cache-control')]).toEqual([200, null])
  expect(headers.get('x-request-id')).not.toBeNull()
})

it.each([
  ['whole, with its length', (text: string) => text],
  ['on the way', (text: string) => new Blob([text]).stream()],
])('refuses a body that is too long %s', async (_when, toBody) => {
  const response = await fetch(`${api.url}/api/v1/scheduler/tasks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Api-Key': api.caller.apiKey },
    body: toBody(JSON.stringify(aTaskBody({ payload: 'x'.repeat(300_000) }))) as BodyInit,
    duplex: 'half',
  } as RequestInit)
  expect(response.status).toBe(413)
  expect((await response.json()) as object).toMatchObject({ code: 'payload_too_large' })
})
