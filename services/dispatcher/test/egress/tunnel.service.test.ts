import tls from 'node:tls'
import { type ConnectProxyOptions, startConnectProxy } from '@belfry/test-support'
import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, failure, receiverFor, response, senderFor, tcpServerFor, whenClosing } from './setup-sender.ts'

afterEach(closeAll)

const proxyAt = (url: string) => ({ url: new URL(url), resolves: false, exceptions: [] as string[] })

async function setupProxy(options: ConnectProxyOptions = {}, credentials = '') {
  const proxy = await startConnectProxy(options)
  whenClosing(() => proxy.close())
  return { proxy, url: proxyAt(`http://${credentials}127.0.0.1:${proxy.port}`) }
}

const resolve = async () => ['127.0.0.1']
const unsent = (reason: string) => ({ kind: 'unsent', message: `The egress proxy could not be used (${reason}).` })

describe('through a proxy', () => {
  it('a call is requested by its checked address, and its connection is reused', async () => {
    const { proxy, url } = await setupProxy()
    const receiver = await receiverFor()
    const { send } = senderFor({ proxy: url, resolve })
    for (let i = 0; i < 3; i++) expect(await send(`http://target.example:${receiver.port}/`)).toEqual(response(200))
    expect(proxy.asked).toEqual([`127.0.0.1:${receiver.port}`])
    expect(proxy.others()).toBe(0)
    expect(receiver.requests[0]?.rawHeaders).toEqual(
      expect.arrayContaining(['host', `target.example:${receiver.port}`]),
    )
  })

  it('TLS is set up with the target itself, under its own name', async () => {
    const { url } = await setupProxy()
    const receiver = await receiverFor({ certificateFor: 'target.example' })
    const secureContext = tls.createSecureContext({ ca: receiver.certificate ?? '' })
    const { send } = senderFor({ proxy: url, resolve, secureContext })
    expect(await send(`https://target.example:${receiver.port}/`)).toEqual(response(200))
    expect(await send(`https://other.example:${receiver.port}/`)).toEqual(failure('tls'))
  })

  it('the user name and the password of its URL are sent to it, and to no target', async () => {
    const { proxy, url } = await setupProxy({ credentials: 'me:p@ss word' }, 'me:p%40ss%20word@')
    const receiver = await receiverFor()
    expect(await senderFor({ proxy: url }).send(receiver.url('/'))).toEqual(response(200))
    expect(proxy.asked).toHaveLength(1)
    expect(receiver.requests[0]?.rawHeaders.join().toLowerCase()).not.toContain('proxy')
  })

  it.each(['127.0.0.1', '[::1]', 'name.example', '169.254.169.254'])(
    '%s is refused before the proxy is called',
    async host => {
      const { proxy, url } = await setupProxy()
      const { send } = senderFor({ proxy: url, resolve, allowedPrivateTargets: [] })
      expect(await send(`http://${host}/`)).toEqual(failure('blocked_address'))
      expect(proxy.asked).toEqual([])
    },
  )
  it('a name is requested as it is where the proxy resolves, and addresses are still checked', async () => {
    const { proxy, url } = await setupProxy()
    const receiver = await receiverFor()
    const unknown = async () => Promise.reject(new Error('no such name'))
    const { send } = senderFor({ proxy: { ...url, resolves: true }, resolve: unknown, allowedPrivateTargets: [] })
    expect(await send(`http://localhost:${receiver.port}/`)).toEqual(response(200))
    expect(proxy.asked).toEqual([`localhost:${receiver.port}`])
    for (const host of ['127.0.0.1', '[::1]', '169.254.169.254', 'localhost:22'])
      expect(await send(`http://${host}/`)).toEqual(failure('blocked_address'))
    expect(proxy.asked).toHaveLength(1)
  })

  it.each([false, true])(
    'an exception is resolved, checked and called past it (the proxy resolves: %s)',
    async resolves => {
      const { proxy, url } = await setupProxy()
      const receiver = await receiverFor()
      const exceptions = [
        'target.example',
        '*.past.example',
        `other.example:${receiver.port}`,
        '127.0.0.1',
        '[::1]',
        '10.0.0.1',
      ]
      const { send } = senderFor({ proxy: { ...url, resolves, exceptions }, resolve })
      for (const host of ['target.example', 'TARGET.example.', 'a.past.example', 'other.example', '127.0.0.1'])
        expect(await send(`http://${host}:${receiver.port}/`)).toEqual(response(200))
      expect(await send('http://10.0.0.1/')).toEqual(failure('blocked_address'))
      expect(proxy.asked).toEqual([])
      await send(`http://past.example:${receiver.port}/`, {}, /status.*/)
      await send('http://other.example:81/', {}, /status.*/)
      expect(proxy.asked).toHaveLength(2)
    },
  )
})

describe('a failure of the proxy is not one of the target, which is not called', () => {
  it('nothing listens', async () => {
    const { proxy, url } = await setupProxy()
    await proxy.close()
    const outcome = await senderFor({ proxy: url, patienceMs: 0 }).send('http://127.0.0.1:1/', { timeoutMs: 300 })
    expect(outcome).toEqual(unsent('ECONNREFUSED'))
  })

  it('it returns a little later', async () => {
    const silent = await tcpServerFor(socket => socket.resetAndDestroy())
    const receiver = await receiverFor()
    const working = await setupProxy()
    const silentProxy = proxyAt(`http://127.0.0.1:${silent.port}`)
    const sending = senderFor({ proxy: silentProxy }).send(receiver.url('/'))
    // The same sender: the server behind a URL may change.
    setTimeout(() => Object.assign(silentProxy.url, { port: String(working.proxy.port) }), 300)
    expect(await sending).toEqual(response(200))
    expect(receiver.requests).toHaveLength(1)
  })

  it.each([
    ['requires credentials', { credentials: 'me:secret' }, 'status 407'],
    ['fails', { refusesWith: 500 }, 'status 500'],
    ['is no proxy', { refusesWith: 405 }, 'status 405'],
  ])('it %s', async (_, options, reason) => {
    const { url } = await setupProxy(options)
    expect(await senderFor({ proxy: url, patienceMs: 0 }).send('http://127.0.0.1:1/', { timeoutMs: 300 })).toEqual(
      unsent(reason),
    )
  })

  it('it does not speak HTTP', async () => {
    const server = await tcpServerFor(socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    const { send } = senderFor({ proxy: proxyAt(`http://127.0.0.1:${server.port}`), patienceMs: 0 })
    expect(await send('http://127.0.0.1:1/', { timeoutMs: 300 })).toMatchObject({ kind: 'unsent' })
  })

  it('it does not reach TLS before the deadline', async () => {
    const server = await tcpServerFor(() => {})
    const { send } = senderFor({ proxy: proxyAt(`https://127.0.0.1:${server.port}`), patienceMs: 0 })
    expect(await send('http://127.0.0.1:1/', { timeoutMs: 300 })).toMatchObject({ kind: 'unsent' })
  })
})

describe('a proxy that works', () => {
  it.each([403, 407, 502, 503, 504])('refuses the target with %i', async refusesWith => {
    const { url } = await setupProxy({ refusesWith })
    const outcome = await senderFor({ proxy: url, patienceMs: 0 }).send(
      'http://127.0.0.1:1/',
      { timeoutMs: 300 },
      /status \d{3}/,
    )
    const message = `The egress proxy does not connect to the target (status ${refusesWith}).`
    expect(outcome).toMatchObject({ kind: 'failure', code: 'connection_refused', message })
  })

  it('waits for a target that does not accept', async () => {
    const { url } = await setupProxy({ hangs: true })
    const outcome = await senderFor({ proxy: url, patienceMs: 0 }).send('http://127.0.0.1:1/', { timeoutMs: 300 })
    const timings = { dnsMs: expect.any(Number), connectMs: null, tlsMs: null, firstByteMs: null }
    expect(outcome).toMatchObject({ kind: 'failure', code: 'timeout', timings })
  })
})
