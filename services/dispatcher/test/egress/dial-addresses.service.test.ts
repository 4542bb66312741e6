import { once } from 'node:events'
import { type AddressInfo, createServer, connect as openTcp, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startConnectProxy } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { closeAll, failure, response, senderFor, whenClosing } from './setup-sender.ts'

afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await closeAll()
})

/** Lets the event loop turn some times, without its timers. */
async function turnLoop(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn()
}

/** Starts a server at an address; it answers each request with a header that names it. */
async function serverAt(host: string, port = 0) {
  const sockets = new Set<Socket>()
  let requests = 0
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    socket.on('data', () => {
      requests += 1
      socket.write(`HTTP/1.1 200 OK\r\nserver: ${host}\r\ncontent-length: 0\r\n\r\n`)
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  whenClosing(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: (server.address() as AddressInfo).port, requests: () => requests, sockets }
}

const slowServer = `
  const { parentPort, workerData } = require('node:worker_threads')
  const server = require('node:net').createServer(socket => {
    socket.on('error', () => {}).on('data', () => socket.write('HTTP/1.1 200 OK\\r\\nserver: slow\\r\\ncontent-length: 0\\r\\n\\r\\n'))
  })
  server.listen({ ...workerData, backlog: 1 }, () => parentPort.postMessage(server.address().port))
  parentPort.on('message', ms => {
    Atomics.store(new Int32Array(workerData.blocked), 0, 1)
    Atomics.wait(new Int32Array(workerData.never), 0, 0, ms)
  })
`

/** Starts a server whose full backlog makes the kernel drop the first SYN of a client: it connects after a second. */
async function slowServerAt(host: string, port = 0, slowMs = 900) {
  const [blocked, never] = [new SharedArrayBuffer(4), new SharedArrayBuffer(4)]
  const worker = new Worker(slowServer, { eval: true, workerData: { host, port, blocked, never } })
  whenClosing(() => worker.terminate())
  const [chosen] = await once(worker, 'message')
  worker.postMessage(slowMs)
  await vi.waitUntil(() => new Int32Array(blocked)[0] === 1, { interval: 1 })
  const fillers = Array.from({ length: 4 }, () => openTcp({ host, port: chosen }).on('error', () => {}))
  whenClosing(() => fillers.forEach(filler => void filler.destroy()))
  await once(fillers[1] as Socket, 'connect')
  return { port: Number(chosen) }
}

describe('a name with several addresses', () => {
  const named = (...addresses: string[]) => senderFor({ resolve: async () => addresses }).send

  it('is reached at an address that accepts after a second, while the others refuse', async () => {
    const { port } = await slowServerAt('127.0.0.1')
    const send = named('127.0.0.1', '127.0.0.2', '127.0.0.3')
    expect(await send(`http://target.example:${port}/`)).toMatchObject({ headers: { server: 'slow' } })
  })

  it('is reached at the next address after a quarter of a second, and drops the slower connection', async () => {
    const slow = await slowServerAt('127.0.0.1', 0, 3_000)
    const fast = await serverAt('127.0.0.2', slow.port)
    const send = named('127.0.0.1', '127.0.0.2')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const outcome = send(`http://target.example:${slow.port}/`)
    await turnLoop()
    vi.advanceTimersByTime(249)
    await turnLoop()
    expect(fast.sockets.size).toBe(0)
    vi.advanceTimersByTime(1)
    expect(await outcome).toMatchObject({ headers: { server: '127.0.0.2' } })
    expect(fast.sockets.size).toBe(1)
  })

  it('opens one connection while the first address accepts at once', async () => {
    const first = await serverAt('127.0.0.1')
    const second = await serverAt('127.0.0.2', first.port)
    const send = named('127.0.0.1', '127.0.0.2')
    expect(await send(`http://target.example:${first.port}/`)).toMatchObject({ headers: { server: '127.0.0.1' } })
    await sleep(400)
    expect([first.requests(), second.sockets.size]).toEqual([1, 0])
  })

  it('tries the next address at once after a refusal', async () => {
    const { port } = await serverAt('127.0.0.3')
    const send = named('127.0.0.4', '127.0.0.2', '127.0.0.3')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }) // the pause never ends
    expect(await send(`http://target.example:${port}/`)).toEqual(response(200))
  })

  it('fails when all addresses have refused, and when the call ends first', async () => {
    const { port } = await slowServerAt('127.0.0.1', 0, 3_000)
    expect(await named('127.0.0.2', '127.0.0.3')(`http://target.example:${port}/`)).toEqual(
      failure('connection_refused'),
    )
    const late = named('127.0.0.1', '127.0.0.2')(`http://target.example:${port}/`, { timeoutMs: 400 })
    expect(await late).toEqual(failure('timeout'))
  })

  it('is reached through a proxy that cannot connect to its first address', async () => {
    const proxy = await startConnectProxy()
    whenClosing(() => proxy.close())
    const { port } = await serverAt('127.0.0.2')
    const { send } = senderFor({
      proxy: { url: new URL(`http://127.0.0.1:${proxy.port}`), resolves: false, exceptions: [] },
      resolve: async () => ['127.0.0.4', '127.0.0.2'],
    })
    expect(await send(`http://target.example:${port}/`)).toEqual(response(200))
    expect(proxy.asked).toEqual([`127.0.0.4:${port}`, `127.0.0.2:${port}`])
  })
})

describe('a name that moves to another address', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))

  it('takes its calls along within 35 seconds, though the old server still answers them', async () => {
    const old = await serverAt('127.0.0.1')
    const fresh = await serverAt('127.0.0.2', old.port)
    let address = '127.0.0.1'
    let lookups = 0
    const { send } = senderFor({
      resolve: async () => {
        lookups += 1
        return [address]
      },
    })
    const call = () => send(`http://target.example:${old.port}/`)
    expect(await call()).toMatchObject({ headers: { server: '127.0.0.1' } })
    address = '127.0.0.2'
    let movedAfter = 0
    for (let second = 1; second <= 100; second++) {
      vi.advanceTimersByTime(1_000)
      await call()
      if (movedAfter === 0 && fresh.requests() > 0) movedAfter = second
    }
    expect(movedAfter).toBeGreaterThan(14)
    expect(movedAfter).toBeLessThanOrEqual(35)
    expect(old.requests() + fresh.requests()).toBe(101)
    // A call on a kept connection looks nothing up.
    expect(lookups).toBeLessThan(9)
    expect(old.sockets.size + fresh.sockets.size).toBeLessThanOrEqual(2)
  })
})
