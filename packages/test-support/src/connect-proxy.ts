import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A proxy for CONNECT on 127.0.0.1 that records its requests. */
export type ConnectProxy = {
  port: number
  /** The `host:port` of each CONNECT, in order. */
  asked: readonly string[]
  /** The number of requests other than CONNECT. */
  others(): number
  close(): Promise<void>
}

export type ConnectProxyOptions = {
  /** The required `user:password`. Default: none. */
  credentials?: string
  /** The status of its response to every CONNECT. Default: it connects. */
  refusesWith?: number
  /** Accepts connections and CONNECTs, and never responds. */
  hangs?: boolean
  /** How long each tunnel takes to open. Default: no time. */
  delayMs?: number
}

/** Starts a proxy on a free port. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  let others = 0
  const expected = options.credentials && `Basic ${Buffer.from(options.credentials).toString('base64')}`
  const server = createServer((_, response) => {
    others += 1
    response.writeHead(400).end()
  })
  server.on('connect', ({ url: authority = '', headers }, client: Socket, head: Buffer) => {
    client.on('error', () => {}) // either side may disconnect in any way
    if (expected && headers['proxy-authorization'] !== expected) {
      return client.end('HTTP/1.1 407 Who are you\r\nproxy-authenticate: Basic realm="proxy"\r\n\r\n')
    }
    asked.push(authority)
    if (options.hangs) return
    if (options.refusesWith) return client.end(`HTTP/1.1 ${options.refusesWith} No\r\ncontent-length: 0\r\n\r\n`)
    const { hostname, port } = new URL(`tcp://${authority}`)
    const target = track(connect(Number(port), hostname.replace(/^\[|\]$/g, '')))
    target.on('error', () => client.end('HTTP/1.1 502 Not there\r\ncontent-length: 0\r\n\r\n'))
    target.once('connect', async () => {
      await sleep(options.delayMs)
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.write(head)
      client.pipe(target).pipe(client)
    })
    client.once('close', () => target.destroy())
  })

  function track(socket: Socket): Socket {
    sockets.add(socket)
    return socket.once('close', () => sockets.delete(socket))
  }

  server.on('connection', track)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  return {
    port,
    asked,
    others: () => others,
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
