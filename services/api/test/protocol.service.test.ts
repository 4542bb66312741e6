import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../src/app.ts'
import { createApiServer } from '../src/http/api-server.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi()
const path = '/api/v1/scheduler/tasks'

type RawAnswer = { status: number; headers: Map<string, string>; body: Json }

/** Opens a connection, sends a text unchanged, and parses the first response. */
async function exchange(...conversation: Parameters<typeof converse>): Promise<RawAnswer> {
  const [answer] = await converse(...conversation)
  if (answer === undefined) throw new Error('The connection was closed without an answer.')
  return answer
}

/** Reads until the server closes the connection. `later` has the text to send once a number of bytes has arrived. */
async function converse(
  text: string,
  later: (received: string) => string | null = () => null,
  port = Number(new URL(api.url).port),
): Promise<RawAnswer[]> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let received = ''
  socket.setEncoding('utf8').on('data', piece => {
    received += piece
    const more = later(received)
    if (more !== null) socket.write(more)
  })
  socket.on('error', () => {})
  socket.write(text)
  await once(socket, 'close')
  return received === '' ? [] : received.split(/(?=HTTP\/1\.1 \d{3} )/).map(parse)
}

function parse(received: string): RawAnswer {
  const [head = '', ...rest] = received.split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = new Map(lines.map(each => [each.split(': ')[0]?.toLowerCase() ?? '', each.replace(/^[^:]*: /, '')]))
  const body = rest.join('\r\n\r\n')
  const isJson = /json/.test(headers.get('content-type') ?? '')
  return { status: Number(line.split(' ')[1]), headers, body: isJson ? JSON.parse(body) : body }
}

function expectProblem({ status, headers, body }: RawAnswer, expected: number, code: string): void {
  expect([status, body.code, body.status]).toEqual([expected, code, expected])
  expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  expect(headers.get('connection')).toBe('close')
  expect(body.request_id).toBe(headers.get('x-request-id'))
  expect(body.request_id).toMatch(/./)
  expect(body.type).toBe(`http://belfry.test/api/problems/${code}`)
  expect(body.detail).toMatch(/\.$/)
}

const post = (headers: string, body = '') => `POST ${path} HTTP/1.1\r\nHost: belfry.test\r\n${headers}\r\n${body}`
const key = () => `X-Api-Key: ${api.caller.apiKey}\r\n`

describe('the response to a request that the HTTP parser rejects is a problem body:', () => {
  it.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['an unknown method', `WRONG ${path} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
    ['a chunk that is none', post('Transfer-Encoding: chunked\r\n', 'zz\r\n')],
    ['two lengths', post('Content-Length: 2\r\nContent-Length: 3\r\n', '{}')],
    ['a length and chunks', post('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
    ['a negative length', post('Content-Length: -1\r\n', '')],
    ['U+0000 in a header', post('X-Own: a\0b\r\n')],
    ['no Host', `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`],
    ['two Hosts', `GET ${path} HTTP/1.1\r\nHost: belfry.test\r\nHost: other.test\r\nConnection: close\r\n\r\n`],
  ])('%s', async (_what, text) => {
    expectProblem(await exchange(text), 400, 'bad_request')
  })

  it.each([
    ['a header that is too long', () => post(`X-Big: ${'a'.repeat(100_000)}\r\n`)],
    ['a URL that is too long', () => `GET ${path}?name=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['megabytes of headers', () => post(`X-Big: ${'a'.repeat(5_000_000)}\r\n`)],
  ])('%s', async (_what, text) => {
    expectProblem(await exchange(text()), 431, 'headers_too_large')
  })

  it('an expectation that cannot be met', async () => {
    expectProblem(await exchange(post('Expect: nonsense\r\nContent-Length: 2\r\n', '{}')), 417, 'expectation_failed')
  })

  it.each([
    ['headers', () => `GET ${path} HTTP/1.1\r\nHost: belfry.test\r\n`],
    ['a body', () => post(`${key()}Content-Type: application/json\r\nContent-Length: 2\r\n`, '{')],
  ])('%s that do not arrive in time', async (_what, text) => {
    const times = { headersTimeout: 200, requestTimeout: 200, connectionsCheckingInterval: 20 }
    const server = createApiServer(api.ctx, createApp(api.ctx, { database: async () => {} }), times)
    onTestFinished(() => void server.close())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expectProblem(await exchange(text(), () => null, port), 408, 'request_timeout')
  })

  it('garbage after a valid request, which gets its own response', async () => {
    const [first, second] = await converse('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', received =>
      received.endsWith('"ok"}') ? 'garbage\r\n\r\n' : null,
    )
    expect(first).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(second).toMatchObject({ status: 400, body: { code: 'bad_request' } })
  })

  it('and each of these is documented for every operation', async () => {
    const { body } = await api.send('GET', '/api/openapi.json')
    for (const methods of Object.values<Json>(body.paths)) {
      for (const { responses } of Object.values<Json>(methods)) {
        expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '408', '417', '431']))
      }
    }
  })
})

describe('Expect: 100-continue', () => {
  const expectant = (headers: string, length: number) =>
    post(`${headers}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n`)

  it('is refused without credentials before the body is sent', async () => {
    expectProblem(await exchange(expectant('', 2)), 401, 'unauthenticated')
  })

  it('is refused for a body that is too large', async () => {
    expectProblem(await exchange(expectant(key(), 99_999_999)), 413, 'payload_too_large')
  })

  it('is met for a body that is going to be read', async () => {
    const [interim, answer] = await converse(expectant(`${key()}Connection: close\r\n`, 2), received =>
      received === 'HTTP/1.1 100 Continue\r\n\r\n' ? '{}' : null,
    )
    expect(interim?.status).toBe(100)
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
  })

  it('ends the connection where the body is not read', async () => {
    const { status, headers } = await exchange(
      `GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    )
    expect([status, headers.get('connection')]).toEqual([200, 'close'])
  })
})

it('is found under a path with needless escapes; escaped slashes stay escaped', async () => {
  const escaped = path.replace('tasks', '%74a%73ks')
  expect((await api.call('GET', escaped)).status).toBe(200)
  expect((await api.call('GET', `${escaped}?name=%74`)).status).toBe(200)
  expect((await api.send('GET', '/api/openapi%2Ejson')).status).toBe(200)
  for (const other of ['/api/v1/scheduler%2Ftasks', '/api/v1/%zz']) {
    expect((await api.call('GET', other)).status).toBe(404)
  }
})

it('treats different escapes of a path as one path for an Idempotency-Key', async () => {
  const body = { name: 'A', url: 'https://example.com/', method: 'POST', execute_at: '2099-01-01T00:00:00Z' }
  const headers = { 'X-Api-Key': api.caller.apiKey, 'Idempotency-Key': 'one' }
  const first = await api.send('POST', path, body, headers)
  for (const written of [`${path}/`, path.toUpperCase(), path.replace('tasks', '%74asks')]) {
    expect(await api.send('POST', written, body, headers)).toMatchObject({ status: 201, body: first.body })
  }
})

it('names both kinds of credentials to a caller without any', async () => {
  for (const each of [path, `/api/v1/workspaces/${api.caller.workspaceId}`]) {
    const { status, headers, body } = await api.send('GET', each)
    expect([status, body.code]).toEqual([401, 'unauthenticated'])
    expect(body.detail).toContain('X-Api-Key')
    expect(body.detail).toMatch(/sign in/i)
    expect(headers.get('www-authenticate')).toBe('Bearer realm="belfry", ApiKey realm="belfry"')
  }
  expect((await api.send('GET', '/api/v1/auth/me')).body.detail).not.toContain('X-Api-Key')
})
