import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { parseCidrs } from '@belfry/domain/address'
import { createCertificate, type Receiver } from '@belfry/test-support'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { SendOutcome } from '../../src/egress/outcome.ts'
import { createOwnListeners } from '../../src/egress/own-listeners.ts'
import {
  closeAll,
  failure,
  listening,
  receiverFor,
  response,
  senderFor,
  setup,
  tcpServerFor,
  within,
} from './setup-sender.ts'

afterEach(async () => {
  vi.unstubAllEnvs()
  await closeAll()
})

describe('connections', () => {
  it('are reused, one request after the other', async () => {
    const { receiver, send } = await setup()
    for (let i = 0; i < 5; i++) expect(await send(receiver.url('/'))).toEqual(response(200))
    expect(receiver.connections()).toBe(1)
    await Promise.all(Array.from({ length: 8 }, () => send(receiver.url('/'))))
    await Promise.all(Array.from({ length: 8 }, () => send(receiver.url('/'))))
    expect(receiver.connections()).toBe(8)
  })

  it('are not reused after the process was blocked for longer than the target keeps them', async () => {
    let connections = 0
    const answer = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 0\r\n\r\n'
    const server = await tcpServerFor(socket => {
      connections++
      socket.on('data', () => socket.write(answer))
    })
    const { send } = senderFor()
    for (const blockedMs of [0, 10, 1_010]) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMs)
      expect(await send(`http://127.0.0.1:${server.port}/`)).toEqual(response(200))
    }
    expect(connections).toBe(2)
  })

  it('that break are not retried without the caller', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', [{}, { does: 'reset' }, {}, { does: 'raw', bytes: '', thenClose: true }, {}])
    const outcomes: SendOutcome[] = []
    for (let i = 0; i < 5; i++) outcomes.push(await send(receiver.url('/'), { method: 'GET' }))
    const [stale, reset] = [failure('stale_connection'), failure('connection_reset')]
    expect(outcomes).toEqual([response(200), stale, response(200), reset, response(200)])
    // After the first one, no connection to this target is kept for a while.
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 2, 3, 4])
  })

  it('fail as connections of the target when it closes one long after the request', async () => {
    const server = await tcpServerFor(socket => {
      let requests = 0
      socket.on('data', () => {
        if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        else setTimeout(() => socket.end(), 1_100)
      })
    })
    const { send } = senderFor()
    expect(await send(`http://127.0.0.1:${server.port}/`)).toEqual(response(200))
    expect(await send(`http://127.0.0.1:${server.port}/`)).toEqual(failure('connection_reset'))
  })

  it('fail as connections of the target when it has started to respond', async () => {
    const server = await tcpServerFor(socket => {
      let requests = 0
      socket.on('data', () => {
        if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        else socket.end('HTTP/1.1 2')
      })
    })
    const { send } = senderFor()
    expect(await send(`http://127.0.0.1:${server.port}/`)).toEqual(response(200))
    expect(await send(`http://127.0.0.1:${server.port}/`)).not.toEqual(failure('stale_connection'))
  })

  it.each([
    ['closed after four idle seconds', '', 0],
    ['kept as long as the target announces', 'keep-alive: timeout=20\r\n', 1],
    ['closed at once when it announces that it waits a second', 'keep-alive: timeout=1\r\n', 0],
  ])('are %s', async (_, header, kept) => {
    const answer = `HTTP/1.1 200 OK\r\n${header}content-length: 0\r\n\r\n`
    const server = await tcpServerFor(socket => socket.on('data', () => socket.write(answer)))
    expect(await senderFor().send(`http://127.0.0.1:${server.port}/`)).toEqual(response(200))
    if (kept > 0) await sleep(4_500)
    await expect.poll(() => server.openConnections(), { timeout: 8_000 }).toBe(kept)
  })

  it.each([
    { does: 'body_on_204' } as const,
    { does: 'raw', bytes: 'HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n' } as const,
    { does: 'raw', bytes: 'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 500 Forged\r\ncontent-length: 0\r\n\r\n' } as const,
    // The body comes later, when the connection may be in use again.
    { does: 'raw', bytes: 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n' } as const,
    { does: 'raw', bytes: 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\nhello' } as const,
    { does: 'raw', bytes: 'HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n' } as const,
  ])('are not used again after an answer that may not have a body and does: %j', async behaviour => {
    const { receiver, send } = await setup()
    receiver.answer('/', [behaviour, {}])
    expect(await send(receiver.url('/'))).toMatchObject({ kind: 'response', bodyBytes: 0 })
    expect(await send(receiver.url('/'))).toEqual(response(200))
    expect(receiver.connections()).toBe(2)
  })

  it('are not reused after the target has closed them', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { headers: { connection: 'close' } })
    for (let i = 0; i < 3; i++) expect(await send(receiver.url('/'))).toEqual(response(200))
    expect(receiver.connections()).toBe(3)
  })

  it('stay open to a bounded number of targets', async () => {
    const { receiver, send } = await setup({ resolve: async () => ['127.0.0.1'] })
    for (let i = 0; i < 530; i++) await send(`http://host-${i}.example:${receiver.port}/`)
    expect(receiver.connections()).toBe(530)
    await vi.waitUntil(() => receiver.openConnections() <= 512)
    await send(`http://host-529.example:${receiver.port}/`)
    expect(receiver.connections()).toBe(530)
    await send(`http://host-0.example:${receiver.port}/`)
    expect(receiver.connections()).toBe(531)
  })

  it('ignore the proxy of the environment', async () => {
    const { receiver, send } = await setup()
    const canary = await receiverFor()
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']) {
      vi.stubEnv(name, canary.url('/'))
    }
    expect(await senderFor().send(receiver.url('/'))).toEqual(response(200))
    expect(await send(receiver.url('/'))).toEqual(response(200))
    expect(canary.connections()).toBe(0)
  })

  it('are all closed with the sender, and calls in flight are aborted', async () => {
    const { receiver, sender, send } = await setup()
    receiver.answer('/hang', { does: 'hang' })
    await send(receiver.url('/'))
    const inFlight = send(receiver.url('/hang'))
    const silent = await tcpServerFor(() => {})
    const connecting = send(`https://127.0.0.1:${silent.port}/`)
    await receiver.waitFor(2)
    await vi.waitUntil(() => silent.openConnections() === 1)
    await sender.close()
    expect(await Promise.all([inFlight, connecting])).toEqual([failure('worker_lost'), failure('worker_lost')])
    await vi.waitUntil(() => receiver.openConnections() + silent.openConnections() === 0)
    expect(await send(receiver.url('/'))).toEqual(failure('worker_lost'))
  })
})

describe('failures to connect', () => {
  it('reports that nothing listens', async () => {
    const { receiver, send } = await setup()
    await receiver.close()
    expect(await send(receiver.url('/'))).toEqual(failure('connection_refused'))
  })

  it('does not take port 0 for the usual port', async () => {
    expect(await senderFor().send('http://127.0.0.1:0/')).toEqual(failure('connection_refused'))
  })

  it('reports a reset in place of a response', async () => {
    const { receiver, send } = await setup()
    receiver.answer('/', { does: 'reset' })
    expect(await send(receiver.url('/'))).toEqual(failure('connection_reset'))
  })

  it('reports an unknown name', async () => {
    const { send } = senderFor()
    expect(await send('http://no-such-host.invalid/', { timeoutMs: 9_000 })).toEqual(failure('dns'))
  }, 10_000)
})

describe('TLS', () => {
  const trusting = (receiver: Receiver) => tls.createSecureContext({ ca: receiver.certificate ?? '' })

  it('refuses a certificate that is not trusted, in every environment', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const receiver = await receiverFor({ certificateFor: '127.0.0.1' })
    const outcome = await senderFor().send(receiver.url('/'))
    expect(outcome).toMatchObject({ code: 'tls', message: 'The certificate of the target is self-signed.' })
    expect(receiver.requests).toEqual([])
  })

  it.each(['127.0.0.1', 'target.example'])('talks to %s over one trusted connection', async host => {
    const receiver = await receiverFor({ certificateFor: host })
    const { send } = senderFor({ secureContext: trusting(receiver), resolve: async () => ['127.0.0.1'] })
    for (let i = 0; i < 3; i++) expect(await send(`https://${host}:${receiver.port}/`)).toEqual(response(200))
    expect(receiver.connections()).toBe(1)
  })

  it('refuses a trusted certificate for another name, even after a first connection', async () => {
    const receiver = await receiverFor({
      certificateFor: 'target.example',
      otherwise: { headers: { connection: 'close' } },
    })
    const { send } = senderFor({ secureContext: trusting(receiver), resolve: async () => ['127.0.0.1'] })
    for (let i = 0; i < 2; i++) {
      expect(await send(`https://target.example:${receiver.port}/`)).toEqual(response(200))
      const other = await send(`https://other.example:${receiver.port}/`)
      expect(other).toMatchObject({ code: 'tls', message: 'The certificate of the target is for another host name.' })
    }
    expect(receiver.requests).toHaveLength(2)
  })

  it.each([
    ['expired', 'The certificate of the target has expired.'],
    ['not_yet_valid', 'The certificate of the target is not valid yet.'],
  ] as const)('refuses a trusted certificate that is %s', async (certificateFault, message) => {
    const receiver = await receiverFor({ certificateFor: '127.0.0.1', certificateFault })
    const { send } = senderFor({ secureContext: trusting(receiver) })
    expect(await send(receiver.url('/'))).toMatchObject({ kind: 'failure', code: 'tls', message })
    expect(receiver.requests).toEqual([])
  })

  it('refuses a certificate of an unknown authority', async () => {
    const receiver = await receiverFor({ certificateFor: '127.0.0.1', certificateFault: 'unknown_authority' })
    expect(await senderFor().send(receiver.url('/'))).toMatchObject({ kind: 'failure', code: 'tls' })
    expect(receiver.requests).toEqual([])
  })

  it('refuses versions before 1.2, even if Node allows them', async () => {
    const receiver = await receiverFor({ certificateFor: '127.0.0.1', maxTlsVersion: 'TLSv1.1' })
    const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls
    Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT@SECLEVEL=0' })
    const outcome = await senderFor().send(receiver.url('/'))
    Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS })
    const message = 'The target has no version of TLS that Belfry accepts.'
    expect(outcome).toMatchObject({ code: 'tls', message })
  })

  it('sends the host name to the target', async () => {
    const asked: string[] = []
    const server = tls.createServer({
      SNICallback(name, done) {
        asked.push(name)
        done(new Error('not here'))
      },
    })
    const { port } = await listening(server)
    const { send } = senderFor({ resolve: async () => ['127.0.0.1'] })
    for (const host of ['target.example', 'target.example.']) await send(`https://${host}:${port}/`)
    expect(asked).toEqual(['target.example', 'target.example'])
  })

  it('reports a target without TLS', async () => {
    const { receiver, send } = await setup()
    const message = 'The target does not speak TLS on this port, as one for plain HTTP.'
    expect(await send(receiver.url('/').replace('http:', 'https:'))).toMatchObject({ code: 'tls', message })
  })

  const demanding = { requestCert: true, rejectUnauthorized: true } as const
  const refused = 'The target refused the handshake: it demands a client certificate, or shares no cipher.'
  it.each<[string, tls.TlsOptions, string]>([
    ['demands a client certificate', { ...demanding }, 'The target demands a client certificate.'],
    ['demands one with TLS 1.2', { ...demanding, maxVersion: 'TLSv1.2' }, refused],
    ['shares no cipher', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES256-GCM-SHA384' }, refused],
    ['offers HTTP/2 only', { ALPNProtocols: ['h2'] }, 'The target offers HTTP/2 only, which Belfry does not speak.'],
  ])('names the fault of a target that %s', async (_, options, message) => {
    const { key, cert } = createCertificate('127.0.0.1')
    const server = tls.createServer({ key, cert, ...options }, socket =>
      socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\n\r\n'),
    )
    server.on('tlsClientError', () => {})
    const { port } = await listening(server)
    const { send } = senderFor({ secureContext: tls.createSecureContext({ ca: cert }) })
    for (let i = 0; i < 5; i++) {
      expect(await send(`https://127.0.0.1:${port}/`, { body: 'x'.repeat(1 + i * 100_000) }, /HTTP\/2/)).toMatchObject({
        code: 'tls',
        message,
      })
    }
  })

  it('does not report a connection that breaks in the handshake as its failure', async () => {
    const server = await tcpServerFor(socket => socket.once('data', () => socket.resetAndDestroy()))
    expect(await senderFor().send(`https://127.0.0.1:${server.port}/`)).toEqual(failure('connection_reset'))
  })
})

describe('blocked addresses', () => {
  const spellings = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
    '0',
  ].concat(
    ['①②⑦.0.0.1', '127。0。0。1', '%31%32%37.0.0.1', '127.0.0.1.', '0.0.0.0', '127.255.255.254', 'localhost'],
    ['LOCALHOST', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]'],
    ['[::127.0.0.1]', '[64:ff9b::7f00:1]', 'user@127.0.0.1', 'example.com@127.0.0.1', '127.0.0.1\\@example.com'],
  )

  it.each(spellings)('are not connected to as http://%s/', async host => {
    const canary = await receiverFor()
    const { send } = senderFor({ allowedPrivateTargets: [] })
    for (const scheme of ['http', 'https']) {
      const [authority, rest = ''] = host.split('\\')
      const url = `${scheme}://${authority}:${canary.port}${rest && `\\${rest}`}/`
      expect(await send(url)).toEqual(failure('blocked_address'))
    }
    expect(canary.connections()).toBe(0)
  })

  it.each(['localhost.', 'a.localhost', 'a.localhost.'])(
    'are not connected to as %s, resolvable or not',
    async host => {
      const canary = await receiverFor()
      const { send } = senderFor({ allowedPrivateTargets: [] })
      const outcome = await send(`http://${host}:${canary.port}/`)
      expect(outcome).toMatchObject({ kind: 'failure', code: expect.stringMatching(/^(blocked_address|dns)$/) })
      expect(canary.connections()).toBe(0)
    },
  )

  it.each(['169.254.169.254', '10.0.0.1', '192.168.0.1', '100.100.100.200', '[fd00:ec2::254]', '[fe80::1]'])(
    'are refused at once, whether or not a server listens: %s',
    async host => {
      const { send } = senderFor({ allowedPrivateTargets: [] })
      const outcome = await within(0, () => send(`http://${host}/`))
      expect(outcome).toMatchObject({
        code: 'blocked_address',
        message: 'The target is at an address that this installation does not call.',
      })
    },
  )

  it('take the same time to be refused: open, closed, own or missing', async () => {
    const canary = await receiverFor()
    const resolve = async () => ['127.0.0.1']
    const listeners = createOwnListeners([{ host: '127.0.0.1', port: 9 }], resolve)
    const { send } = senderFor({ allowedPrivateTargets: [], listeners, resolve })
    const hosts = [
      `127.0.0.1:${canary.port}`,
      '127.0.0.1:1',
      '127.0.0.1:9',
      '10.255.255.1',
      `name.example:${canary.port}`,
    ]
    const times = new Map<string, number[]>(hosts.map(host => [host, []]))
    for (let i = 0; i < 31; i++) {
      for (const [host, took] of times) {
        const startedAt = performance.now()
        expect(await send(`http://${host}/`)).toEqual(failure('blocked_address'))
        took.push(performance.now() - startedAt)
      }
    }
    const medians = [...times.values()].map(took => took.sort((a, b) => a - b)[15] ?? 0)
    expect(Math.max(...medians) - Math.min(...medians)).toBeLessThan(20)
    expect(canary.connections()).toBe(0)
  })

  it('are not connected to when one address of a name is private', async () => {
    const canary = await receiverFor()
    for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['127.0.0.1', '8.8.8.8'], ['::ffff:127.0.0.1']]) {
      const { send } = senderFor({ allowedPrivateTargets: [], resolve: async () => addresses })
      expect(await send(`http://two-faced.example:${canary.port}/`)).toEqual(failure('blocked_address'))
    }
    expect(canary.connections()).toBe(0)
  })

  it('are not connected to when a name changes between two look-ups', async () => {
    const canary = await receiverFor()
    let lookUps = 0
    // Only 127.0.0.2 is opened; nothing listens there.
    const resolve = async () => [lookUps++ % 2 === 0 ? '127.0.0.2' : '127.0.0.1']
    const { send } = senderFor({ allowedPrivateTargets: parseCidrs('127.0.0.2/32'), resolve })
    const outcomes: SendOutcome[] = []
    for (let i = 0; i < 50; i++) outcomes.push(await send(`http://rebinding-${i}.example:${canary.port}/`))
    const [first, second] = [failure('connection_refused'), failure('blocked_address')]
    expect(outcomes).toEqual(Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? first : second)))
    expect(lookUps).toBe(50)
    expect(canary.connections()).toBe(0)
  })
})
