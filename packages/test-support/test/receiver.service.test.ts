import { once } from 'node:events'
import { Agent, get, type IncomingMessage, request } from 'node:http'
import { get as getSecurely } from 'node:https'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Receiver, type ReceiverOptions, startReceiver } from '../src/receiver.ts'

const started: Receiver[] = []

afterEach(async () => {
  for (const receiver of started.splice(0)) {
    await receiver.close()
    expect(receiver.openConnections()).toBe(0)
  }
})

async function setup(options?: ReceiverOptions): Promise<Receiver> {
  const receiver = await startReceiver(options)
  started.push(receiver)
  return receiver
}

describe('a receiver', () => {
  it('responds with 200 and a small JSON body by default', async () => {
    const receiver = await setup()
    const response = await fetch(receiver.url('/any'))
    expect([response.status, await response.json()]).toEqual([200, { ok: true }])
  })

  it('records a request exactly', async () => {
    const receiver = await setup()
    const before = Date.now()
    const headers = ['Host', 'x', 'X-Mixed-Case', 'a', 'x-mixed-case', 'b']
    const sent = request(receiver.url('/path?q=1'), { method: 'PUT', headers, agent: false })
    sent.end(Buffer.from([0xff, 0x00, 0x7b]))
    await once(sent, 'response')
    const [received] = receiver.requests
    expect(received).toMatchObject({ method: 'PUT', path: '/path', target: '/path?q=1', connection: 1 })
    expect(received?.rawHeaders.slice(0, 6)).toEqual(headers)
    expect(received?.body).toEqual(Buffer.from([0xff, 0x00, 0x7b]))
    expect(received?.receivedAt).toBeGreaterThan(before - 1)
    expect(received?.receivedAt).toBeLessThan(Date.now() + 1)
  })

  it('sends the responses of a path in order and repeats the last', async () => {
    const receiver = await setup()
    receiver.answer('/turns', [{ status: 500 }, { status: 429, headers: { 'retry-after': '1' } }, { status: 204 }])
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await fetch(receiver.url('/turns'))).status)
    expect(statuses).toEqual([500, 429, 204, 204])
    expect((await fetch(receiver.url('/other'))).status).toBe(200)
    expect(receiver.requestsTo('/turns')).toHaveLength(4)
  })

  it('delays a response', async () => {
    const receiver = await setup({ otherwise: { status: 201, delayMs: 60 } })
    const start = performance.now()
    expect((await fetch(receiver.url('/'))).status).toBe(201)
    expect(performance.now() - start).toBeGreaterThan(55)
  })

  it('counts connections apart from requests', async () => {
    const receiver = await setup()
    const socket = connect(receiver.port, '127.0.0.1')
    await once(socket, 'connect')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let i = 0; i < 3; i++) await read(await answerOf(receiver.url('/'), agent))
    expect(receiver.connections()).toBe(2)
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([2, 2, 2])
    socket.destroy()
    agent.destroy()
  })

  it('waits for requests, and rejects when they do not arrive', async () => {
    const receiver = await setup()
    const two = receiver.waitFor(2)
    const toB = receiver.waitFor(requests => requests.some(({ path }) => path === '/b'))
    for (const path of ['/a', '/b']) await fetch(receiver.url(path))
    expect(await two).toHaveLength(2)
    expect(await toB).toHaveLength(2)
    await expect(receiver.waitFor(3, 20)).rejects.toThrow('Timed out after 20 ms with 2 requests.')
  })

  it('uses TLS with a certificate that a client can trust', async () => {
    const receiver = await setup({ certificateFor: '127.0.0.1' })
    const sent = getSecurely(receiver.url('/'), { ca: receiver.certificate ?? '' })
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
    expect(receiver.requests).toHaveLength(1)
  })
})

describe('a misbehaving receiver', () => {
  it('hangs before the headers', async () => {
    const receiver = await setup({ otherwise: { does: 'hang' } })
    const answer = fetch(receiver.url('/'), { signal: AbortSignal.timeout(100) })
    await expect(answer).rejects.toThrow('timeout')
  })

  it.each([{ does: 'hang_in_body' } as const, { does: 'drip', everyMs: 20 } as const])(
    'leaves the body unfinished: $does',
    async otherwise => {
      const receiver = await setup({ otherwise })
      const stop = new AbortController()
      const response = await fetch(receiver.url('/'), { signal: stop.signal })
      expect(response.status).toBe(200)
      setTimeout(() => stop.abort(new Error('unfinished')), 100)
      await expect(response.text()).rejects.toThrow('unfinished')
    },
  )

  it('drips the headers too', async () => {
    const receiver = await setup({ otherwise: { does: 'drip', everyMs: 1, part: 'all' } })
    const { socket } = await speak(receiver)
    const chunks: string[] = []
    for await (const chunk of socket) if (chunks.push(chunk) === 5) break
    expect('HTTP/1.1 200 OK'.startsWith(chunks.join(''))).toBe(true)
  })

  it('resets instead of responding', async () => {
    const receiver = await setup({ otherwise: { does: 'reset' } })
    await expect(answerOf(receiver.url('/'))).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('closes in the body', async () => {
    const receiver = await setup({ otherwise: { does: 'close_in_body' } })
    const response = await answerOf(receiver.url('/'))
    expect(response.headers['content-length']).toBe('100')
    await expect(read(response)).rejects.toThrow('aborted')
  })

  it('sends the given bytes', async () => {
    const receiver = await setup({ otherwise: { does: 'raw', bytes: 'SSH-2.0-surprise\r\n', thenClose: true } })
    const { socket } = await speak(receiver)
    expect((await socket.toArray()).join('')).toBe('SSH-2.0-surprise\r\n')
  })

  it('redirects', async () => {
    const receiver = await setup({ otherwise: { does: 'redirect', to: 'http://example.com/', status: 307 } })
    const response = await answerOf(receiver.url('/'))
    expect([response.statusCode, response.headers.location]).toEqual([307, 'http://example.com/'])
  })

  it('sends an endless body', async () => {
    const receiver = await setup({ otherwise: { does: 'endless_body' } })
    const response = await answerOf(receiver.url('/'))
    let bytes = 0
    for await (const chunk of response) {
      bytes += chunk.length
      if (bytes > 5_000_000) break
    }
    expect(bytes).toBeGreaterThan(5_000_000)
  })

  it('sends more headers than a client accepts', async () => {
    const receiver = await setup({ otherwise: { does: 'huge_headers' } })
    await expect(answerOf(receiver.url('/'))).rejects.toMatchObject({ code: 'HPE_HEADER_OVERFLOW' })
  })

  it('sends endless headers', async () => {
    const receiver = await setup({ otherwise: { does: 'endless_headers' } })
    const { socket } = await speak(receiver)
    let text = ''
    for await (const chunk of socket) {
      text += chunk
      if (text.length > 1_000_000) break
    }
    expect(text).not.toContain('\r\n\r\n')
  })

  it('floods with informational responses', async () => {
    const receiver = await setup({ otherwise: { does: 'informational_flood' } })
    const { socket } = await speak(receiver)
    let text = ''
    for await (const chunk of socket) {
      text += chunk
      if (text.length > 100_000) break
    }
    expect(text.match(/103 Wait/g)?.length).toBeGreaterThan(1_000)
  })

  it('sends a body with 204', async () => {
    const receiver = await setup({ otherwise: { does: 'body_on_204' } })
    const { socket } = await speak(receiver)
    const [chunk] = await once(socket, 'data')
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 204 .*hello$/s)
    socket.destroy()
  })

  it('closes while it is misbehaving', async () => {
    const receiver = await setup()
    receiver.answer('/hang', { does: 'hang' })
    receiver.answer('/slow', { delayMs: 60_000 })
    const answers = Promise.allSettled(['/hang', '/slow'].map(path => fetch(receiver.url(path))))
    await receiver.waitFor(2)
    await receiver.close()
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

async function answerOf(url: string, agent?: Agent): Promise<IncomingMessage> {
  const [response] = await once(get(url, { agent: agent ?? false }), 'response')
  return response
}

async function read(response: IncomingMessage): Promise<string> {
  return Buffer.concat(await response.toArray()).toString()
}

async function speak(receiver: Receiver) {
  const socket = connect(receiver.port, '127.0.0.1').setEncoding('utf8')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await receiver.waitFor(1)
  return { socket }
}
