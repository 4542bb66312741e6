import type { RunDetail } from '@belfry/client'
import { expect, it } from 'vitest'
import { isExpected, toLocalRequest, whyNotFaithful } from './local-request.ts'

const run = (request: Partial<RunDetail['request']> = {}) =>
  ({
    request: {
      url: 'https://staging.example.com/hooks/a?b=1',
      method: 'POST',
      headers: { Host: 'staging.example.com', 'Content-Length': '2', 'webhook-id': 'task_1', 'X-Own': 'yes' },
      body: '{}',
      bodyEncoding: 'utf8',
      bodyTruncated: false,
      ...request,
    },
  }) as RunDetail // the rest says nothing here

it('keeps the path, the query and the headers that were signed, but not those of the connection', () => {
  expect(toLocalRequest(run(), new URL('http://localhost:3001'), undefined)).toEqual({
    url: new URL('http://localhost:3001/hooks/a?b=1'),
    method: 'POST',
    headers: { 'webhook-id': 'task_1', 'X-Own': 'yes' },
    body: '{}',
  })
})

it('keeps the bytes of a raw body', () => {
  const raw = run({ body: 'AP8=', bodyEncoding: 'base64' })
  expect(toLocalRequest(raw, new URL('http://localhost:3001'), undefined).body).toEqual(Buffer.from([0, 255]))
})

it('goes below the path of the address, or to one path', () => {
  expect(toLocalRequest(run(), new URL('http://localhost:3001/app/'), undefined).url.pathname).toBe('/app/hooks/a')
  expect(toLocalRequest(run(), new URL('http://localhost:3001/app'), '/here').url.href).toBe(
    'http://localhost:3001/here?b=1',
  )
})

it('never leaves the address that it was given', () => {
  const sneaky = run({ url: 'https://staging.example.com//example.org/a' })
  expect(toLocalRequest(sneaky, new URL('http://localhost:3001'), undefined).url.host).toBe('localhost:3001')
})

it('reports requests that it cannot forward unchanged', () => {
  expect(whyNotFaithful(run())).toBeNull()
  expect(whyNotFaithful(run({ headers: { Authorization: 'Bearer {{ secrets.TOKEN }}' } }))).toMatch(/secrets/)
  expect(whyNotFaithful(run({ headers: { Authorization: '{{ connections.an-api }}' } }))).toMatch(/secrets/)
})

it.each([
  [{}, true],
  [{ from: ['staging.example.com'] }, true],
  [{ from: ['other.example', 'STAGING.example.com:8443'] }, true],
  [{ from: ['example.com'] }, false],
  [{ from: ['staging.example.com:443'] }, false],
  [{ pathPrefix: '/hooks' }, true],
  [{ pathPrefix: 'hooks/' }, true],
  [{ pathPrefix: '/hooks/a' }, true],
  [{ pathPrefix: '/hook' }, false],
  [{ from: ['staging.example.com'], pathPrefix: '/admin' }, false],
])('with %j, forwards a delivery to the staging host: %j', (expected, isForwarded) => {
  expect(isExpected('https://staging.example.com:8443/hooks/a?b=/admin', expected)).toBe(isForwarded)
})

it('forwards no delivery whose path leaves the prefix', () => {
  expect(isExpected('https://a.example/hooks/../admin', { pathPrefix: '/hooks' })).toBe(false)
  expect(isExpected('{{ secrets.URL }}/hooks', { pathPrefix: '/hooks' })).toBe(false)
})
