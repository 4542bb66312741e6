import { gzipSync } from 'node:zlib'
import type { Receiver } from '@belfry/test-support'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { closeAll, failure, receiverFor, response, senderFor, setup, tcpServerFor, within } from './setup-sender.ts'

afterEach(closeAll)

describe('a request', () => {
  it('has the body as its UTF-8 bytes, and no other headers', async () => {
    const { receiver, send } = await setup()
    const body = ' {"n":12345678901234567890,"m":1.10,"e":1e400,"s":"Grüße 🔔","b":2,"a":"\\ud800"}\n'
    await send(receiver.url('/a?b=c%20d'), { headers: { 'Content-Type': 'application/json', 'X-Two': 'é' }, body })
    const [received] = receiver.requests
    expect(received?.body).toEqual(Buffer.from(body))
    expect(received?.target).toBe('/a?b=c%20d')
    expect(received?.rawHeaders).toEqual(
      ['host', `127.0.0.1:${receiver.port}`, 'connection', 'keep-alive', 'Content-Type', 'application/json'].concat([
        'X-Two',
        'é',
        'content-length',
        String(Buffer.byteLength(body)),
      ]),
    )
  })

  it.each([
    ["/o'a?x='y'&z=%27", "/o'a?x='y'&z=%27"],
    ["/'?'", "/'?'"],
    ["/'", "/'"],
    ["/'?", "/'"],
    ['/?a\'?b= é"<>', "/?a'?b=%20%C3%A9%22%3C%3E"],
    ['/?a"=%2f+%20', '/?a%22=%2f+%20'],
  ])('to %s keeps its apostrophes, as all that needs no encoding', async (path, target) => {
    const { receiver, send } = await setup()
    await send(receiver.url('') + path)
    expect(receiver.requests[0]?.target.replace(/\?$/, '')).toBe(target)
  })

  it.each(['GET', 'DELETE', 'POST', 'PUT', 'PATCH'])('is a %s with a body, or without one', async method => {
    const { receiver, send } = await setup()
    expect(await send(receiver.url('/'), { method, body: 'x' })).toEqual(response(200))
    expect(await send(receiver.url('/'), { method, body: null })).toEqual(response(200))
    const [full, empty] = receiver.requests
    expect([full?.method, String(full?.body), valuesOf(full, 'content-length')]).toEqual([method, 'x', ['1']])
    expect([empty?.method, String(empty?.body)]).toEqual([method, ''])
    expect(valuesOf(empty, 'content-length')).toEqual(method === 'GET' || method === 'DELETE' ? [] : ['0'])
    for (const request of [full, empty]) expect(valuesOf(request, 'content-type')).toEqual([])
  })

  it('is a HEAD, whose response has no body', async () => {
    const { receiver, send } = await setup()
    expect(await send(receiver.url('/'), { method: 'HEAD' })).toEqual(response(200))
  })

  it('may have header names that are special to programs', async () => {
    const { receiver, send } = await setup()
    const headers = JSON.parse('{"__proto__":"a","constructor":"b","set":"c","get":"d","common":"e","toJSON":"f"}')
    await send(receiver.url('/'), { headers })
    const received = receiver.requests[0]
    expect(Object.keys(headers).flatMap(name => valuesOf(received, name))).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  it.each([
    { 'X-A': 'b\r\nX-Injected: 1' },
    { 'X-A': 'b\nX-Injected: 1' },
    { 'X-A': 'b\0' },
    { 'X-A': '日本' },
    { 'X-A\r\nX-Injected': '1' },
    { 'X A': '1' },
    { 'X-A:': '1' },
    { '': '1' },
    { 'Transfer-Encoding': 'chunked' },
    { 'Content-Length': '1' },
  ])('is refused rather than repaired with the header %j', async headers => {
    const { receiver, send } = await setup()
    expect(await send(receiver.url('/'), { headers, body: 'xx' })).toEqual(failure('invalid_response'))
    expect(receiver.requests).toEqual([])
  })

  it.each(['GET / HTTP/1.1\r\nX: ', 'G T', 'GÉT'])('is refused with the method "%s"', async method => {
    const { receiver, send } = await setup()
    expect(await send(receiver.url('/'), { method })).toEqual(failure('invalid_response'))
    expect(receiver.requests).toEqual([])
  })

  it.each(
    ['', '/path', 'ftp://127.0.0.1/', 'file:///etc/hosts', 'data:text/plain,x', 'http://', 'http://a b/'].concat([
      'unix:/var/run/docker.sock',
      'http://127.0.0.1:65536/',
      'javascript:1',
    ]),
  )('is refused with the URL "%s"', async url => {
    expect(await senderFor().send(url)).toEqual(failure('invalid_response'))
  })
})

describe('a response', () => {
  it('has the status, the headers and the body', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { status: 418, headers: { 'X-One': 'a', 'Set-Cookie': ['b=1', 'c=2'] }, body: 'teapot' })
    const outcome = await send(receiver.url('/'))
    expect(outcome).toEqual(response(418))
    expect(outcome).toMatchObject({
      headers: { 'x-one': 'a', 'set-cookie': ['b=1', 'c=2'] },
      body: Buffer.from('teapot'),
      bodyBytes: 6,
    })
  })

  it('may have header names that are special to programs', async () => {
    const { receiver, send } = await setup()
    const lines = ['__proto__: a', 'constructor: b', 'set: c', 'toJSON: d', 'content-length: 0']
    receiver.answer('/', { does: 'raw', bytes: `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n` })
    const outcome = await send(receiver.url('/'))
    const expected = JSON.parse('{"__proto__":"a","constructor":"b","set":"c","tojson":"d","content-length":"0"}')
    expect(outcome.kind === 'response' && Object.entries(outcome.headers)).toEqual(Object.entries(expected))
  })

  it('is not decompressed', async () => {
    const { receiver, send } = await setup()
    const body = gzipSync('x'.repeat(1_000_000))
    receiver.answer('/', { headers: { 'content-encoding': 'gzip' }, body })
    expect(await send(receiver.url('/'))).toMatchObject({ body, bodyBytes: body.length })
  })

  it.each([300, 301, 302, 303, 307, 308])('is a redirect that is not followed: %i', async status => {
    const { receiver, send } = await setup()
    const canary = await receiverFor()
    receiver.answer('/', { does: 'redirect', to: canary.url('/'), status })
    expect(await send(receiver.url('/'), { body: 'x' })).toEqual(response(status))
    expect(canary.connections()).toBe(0)
  })

  it.each([
    [64 * 1024, false],
    [64 * 1024 + 1, true],
  ])('keeps 64 KiB of a body of %i bytes', async (length, truncated) => {
    const { receiver, send } = await setup()
    receiver.answer('/', { body: Buffer.alloc(length, 'x') })
    const outcome = await send(receiver.url('/'))
    expect(outcome).toEqual(response(200, truncated))
    expect(outcome).toMatchObject({ body: Buffer.alloc(64 * 1024, 'x'), bodyBytes: length })
  })

  it('ends an endless body after 64 KiB, twenty times at once', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'endless_body' })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => send(receiver.url('/'))))
    for (const outcome of outcomes) {
      expect(outcome).toEqual(response(200, true))
      expect(outcome.kind === 'response' && outcome.body.length).toBe(64 * 1024)
      expect(outcome.kind === 'response' && outcome.bodyBytes).toBeLessThan(256 * 1024)
    }
    await vi.waitUntil(() => receiver.openConnections() === 0)
  })

  it('has the received part of a body that breaks off', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'close_in_body' })
    const outcome = await send(receiver.url('/'))
    expect(outcome).toEqual(response(200, true))
    expect(outcome).toMatchObject({ body: Buffer.from('only a part'), bodyBytes: 11 })
  })

  it('has the received part of a body that stops being HTTP', async () => {
    const { receiver, send } = await setup()
    const bytes = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n'
    receiver.answer('/', { does: 'raw', bytes })
    const outcome = await send(receiver.url('/'))
    expect(outcome).toEqual(response(200, true))
    expect(outcome).toMatchObject({ body: Buffer.from('abc') })
  })

  it('may end with the connection', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'raw', bytes: 'HTTP/1.0 200 OK\r\n\r\nall of it', thenClose: true })
    const outcome = await send(receiver.url('/'))
    expect(outcome).toEqual(response(200))
    expect(outcome).toMatchObject({ body: Buffer.from('all of it') })
  })

  it('may follow informational responses', async () => {
    const { receiver, send } = await setup()
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(100)
    receiver.answer('/', { does: 'raw', bytes: `${hints}HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n` })
    expect(await send(receiver.url('/'))).toEqual(response(201))
  })

  it.each([
    ['at once', ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)]],
    [
      'with headers, and others between them',
      ['HTTP/1.1 100 Continue\r\nx: \r\n\r\nHTTP/1.1 102 P\r\n\r\nHTTP/1.1 100 x\r\n\r\n'],
    ],
    ['in pieces', [...'HTTP/1.1 100 Continue\r\nx: y\r\n\r\n']],
  ])('may follow an unexpected 100: %s', async (_, pieces) => {
    const body = 'HTTP/1.1 100 Continue\r\n\r\n'
    const server = await tcpServerFor(socket =>
      socket.on('data', async () => {
        for (const piece of [...pieces, `HTTP/1.1 201 Created\r\ncontent-length: ${body.length}\r\n\r\n${body}`]) {
          socket.write(piece)
          await new Promise(resolve => setImmediate(resolve))
        }
      }),
    )
    const { send } = senderFor()
    // The second time over the same connection.
    for (let i = 0; i < 2; i++) {
      const outcome = await send(`http://127.0.0.1:${server.port}/`)
      expect(outcome).toMatchObject({ status: 201, body: Buffer.from(body) })
    }
  })

  it('may not follow more than a hundred of them', async () => {
    const { receiver, send } = await setup()
    const bytes = `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(101)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`
    receiver.answer('/', { does: 'raw', bytes })
    expect(await send(receiver.url('/'))).toEqual(failure('invalid_response'))
  })

  it.each([
    ['SSH-2.0-OpenSSH_9.2\r\n', 'Expected HTTP/, RTSP/ or ICE/'],
    ['HTTP/1.1 2000 OK\r\n\r\n', 'Invalid response status'],
    ['HTTP/1.1 20 OK\r\n\r\n', 'Invalid status code'],
    ['HTTP/1.1 103 Hints\r\nx : y\r\n\r\n', 'Invalid header token'],
    [
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      'a change of the protocol that was not asked for',
    ],
  ])('is refused if it is %j', async (bytes, fault) => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'raw', bytes })
    const message = `The answer of the target is not valid HTTP (${fault}).`
    expect(await send(receiver.url('/'))).toMatchObject({ code: 'invalid_response', message })
    await vi.waitUntil(() => receiver.openConnections() === 0)
  })

  it('is refused if it changes the protocol without naming one', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'raw', bytes: 'HTTP/1.1 101 Switching Protocols\r\n\r\n' })
    expect(await send(receiver.url('/'))).toEqual(failure('invalid_response'))
    await vi.waitUntil(() => receiver.openConnections() === 0)
  })

  describe.each([200, 204, 410, 503])('with the status %i decides', status => {
    it.each([
      ['content-length: 1\r\ncontent-length: 2\r\n\r\nab', 'Content-Length twice, or an invalid header after it'],
      ['content-length: 2\r\ncontent-length: 2\r\n\r\nab', 'Content-Length twice, or an invalid header after it'],
      [
        'content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n',
        'Content-Length twice, or an invalid header after it',
      ],
      [
        'transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n',
        "Content-Length can't be present with Transfer-Encoding",
      ],
      ['content-length: -1\r\n\r\n', 'Invalid character in Content-Length'],
      ['content-length: 99999999999999999999\r\n\r\n', 'Content-Length twice, or an invalid header after it'],
      ['x : y\r\n\r\n', 'Invalid header token'],
      ['é: y\r\n\r\n', 'Invalid header token'],
      ['x: y\r\n z\r\n\r\n', 'Unexpected whitespace after header value'],
      ['x: \0\r\n\r\n', 'Invalid header value char'],
      ['x: \x07\r\n\r\n', 'Invalid header value char'],
      ['x: y\n\r\n\r\n', 'Missing expected CR after header value'],
      ['x: y\n\n', 'Missing expected CR after header value'],
      ['x: y\rz\r\n\r\n', 'Missing expected LF after header value'],
      [`x: ${'y'.repeat(64 * 1024)}\r\n\r\n`, 'more than 64 KiB'],
    ])('although its headers are %j', async (headers, fault) => {
      const { receiver, send } = await setup()
      receiver.answer('/', { does: 'raw', bytes: `HTTP/1.1 ${status} X\r\n${headers}` })
      const outcome = await send(receiver.url('/'))
      const note = `The headers of the response could not be read (${fault}).`
      expect(outcome).toMatchObject({ kind: 'response', status, headers: {}, bodyBytes: 0, note })
      await vi.waitUntil(() => receiver.openConnections() === 0)
    })

    it('although all its lines end with LF, in pieces of any size, and on a connection that was used before', async () => {
      let calls = 0
      const server = await tcpServerFor(socket =>
        socket.on('data', async () => {
          if (++calls === 1) return socket.write('HTTP/1.1 201 OK\r\ncontent-length: 0\r\n\r\n')
          for (const piece of `HTTP/1.0 ${status}\nx: y\n\nbody`) {
            socket.write(piece)
            await new Promise(resolve => setImmediate(resolve))
          }
        }),
      )
      const { send } = senderFor()
      expect(await send(`http://127.0.0.1:${server.port}/`)).toMatchObject({ status: 201, note: null })
      const note = 'The headers of the response could not be read (Invalid response status).'
      expect(await send(`http://127.0.0.1:${server.port}/`)).toMatchObject({ status, headers: {}, note })
    })
  })

  it.each([204, 304])('with the status %i is complete, even if bytes follow it', async status => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'raw', bytes: `HTTP/1.1 ${status} X\r\ncontent-length: 5\r\n\r\nhello` })
    expect(await send(receiver.url('/'))).toEqual(response(status))
    await vi.waitUntil(() => receiver.openConnections() === 0)
  })

  it('is refused long before the deadline: informational_flood', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'informational_flood' })
    const start = performance.now()
    const message = 'The answer of the target is not valid HTTP (more than a hundred informational responses).'
    expect(await send(receiver.url('/'), { timeoutMs: 40_000 })).toMatchObject({ code: 'invalid_response', message })
    expect(performance.now() - start).toBeLessThan(20_000)
    await vi.waitUntil(() => receiver.openConnections() === 0)
  })

  it('ends at 64 KiB of headers, long before the deadline', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'endless_headers' })
    const start = performance.now()
    const note = 'The headers of the response could not be read (more than 64 KiB).'
    expect(await send(receiver.url('/'), { timeoutMs: 40_000 })).toMatchObject({ status: 200, headers: {}, note })
    expect(performance.now() - start).toBeLessThan(20_000)
    await vi.waitUntil(() => receiver.openConnections() === 0)
  })

  it('may have a header block of nearly 64 KiB', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'huge_headers', bytes: 65_000 })
    expect(await send(receiver.url('/'))).toEqual(response(200))
  })
})

describe('the deadline', () => {
  it.each([{ does: 'hang' } as const, { does: 'drip', everyMs: 10, part: 'all' } as const])(
    'ends a call whose headers do not arrive: $does',
    async behaviour => {
      const { receiver, send } = await setup()
      receiver.answer('/', behaviour)
      expect(await within(200, () => send(receiver.url('/'), { timeoutMs: 200 }))).toEqual(failure('timeout'))
      await vi.waitUntil(() => receiver.openConnections() === 0)
    },
  )

  it.each([
    [{ does: 'drip', everyMs: 10 } as const, /^x+$/],
    [{ does: 'hang_in_body' } as const, /^only a part$/],
  ])('ends a body that does not: %j', async (behaviour, body) => {
    const { receiver, send } = await setup()
    receiver.answer('/', behaviour)
    const outcome = await within(200, () => send(receiver.url('/'), { timeoutMs: 200 }))
    expect(outcome).toEqual(response(200, true))
    expect(outcome.kind === 'response' && String(outcome.body)).toMatch(body)
    await vi.waitUntil(() => receiver.openConnections() === 0)
  })

  it('covers the look-up of the name', async () => {
    const { send } = senderFor({ resolve: () => new Promise(() => {}) })
    const outcome = await within(100, () => send('http://slow.example/', { timeoutMs: 100 }))
    expect(outcome).toEqual(failure('timeout'))
  })

  it('does not wait longer than 5 seconds for a handshake', async () => {
    const server = await tcpServerFor(() => {})
    const { send } = senderFor()
    const outcome = await within(5_000, () => send(`https://127.0.0.1:${server.port}/`, { timeoutMs: 20_000 }))
    expect(outcome).toEqual(failure('timeout'))
  })

  it('covers the TLS handshake', async () => {
    const server = await tcpServerFor(() => {})
    const { send } = senderFor()
    const outcome = await within(100, () => send(`https://127.0.0.1:${server.port}/`, { timeoutMs: 100 }))
    expect(outcome).toEqual(failure('timeout'))
    await vi.waitUntil(() => server.openConnections() === 0)
  })
})

function valuesOf(request: Receiver['requests'][number] | undefined, name: string): string[] {
  const lines = request?.rawHeaders ?? []
  return lines.filter((_, index) => index % 2 === 1 && lines[index - 1]?.toLowerCase() === name.toLowerCase())
}
