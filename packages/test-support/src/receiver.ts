import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { type CertificateFault, createCertificate } from './certificate.ts'
import { type Behaviour, behave } from './receiver-behaviour.ts'

/** A received request. */
export type ReceivedRequest = {
  method: string
  /** Without the query. */
  path: string
  /** The request target as sent, query included. */
  target: string
  /** Alternating names and values, in their original order and spelling. */
  rawHeaders: string[]
  body: Buffer
  /** The arrival time of its headers, in epoch milliseconds with fractions. */
  receivedAt: number
  /** When its response was sent or its connection closed, in epoch milliseconds; null before that. */
  endedAt: number | null
  /** The number of its connection; the first is 1. */
  connection: number
}

/** A target for tests: a server on 127.0.0.1 that records requests and sends configured responses. */
export type Receiver = {
  port: number
  /** The certificate in PEM format; null without TLS. */
  certificate: string | null
  url(path: string): string
  requests: readonly ReceivedRequest[]
  requestsTo(path: string): ReceivedRequest[]
  /** Returns the number of accepted connections, including those without a request. */
  connections(): number
  /** Returns the number of open connections. */
  openConnections(): number
  /** Sets the response for a path, or responses in order, of which the last repeats. */
  answer(path: string, behaviour: Behaviour | Behaviour[]): void
  /** Waits for a number of requests, or for a condition on them. Rejects after `timeoutMs`. Default: 5 seconds. */
  waitFor(
    condition: number | ((requests: readonly ReceivedRequest[]) => boolean),
    timeoutMs?: number,
  ): Promise<readonly ReceivedRequest[]>
  /** Closes all connections and the server. */
  close(): Promise<void>
}

export type ReceiverOptions = {
  /** The behaviour of all other paths. Default: 200 with `{"ok":true}`. */
  otherwise?: Behaviour
  /** Uses TLS with a self-signed certificate for this host name or address. Default: plain HTTP. */
  certificateFor?: string
  /** A fault of the certificate. Default: none. */
  certificateFault?: CertificateFault
  /** The maximum TLS version. Default: Node's. */
  maxTlsVersion?: 'TLSv1.1' | 'TLSv1.2'
}

const defaultReply: Behaviour = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' }

/** Starts a receiver on a free port. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const answers = new Map<string, Behaviour[]>()
  const numberOf = new Map<number | undefined, number>() // by the client's port
  const sockets = new Set<Socket>()
  const watchers = new Set<() => void>()
  let accepted = 0

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const receivedAt = performance.timeOrigin + performance.now()
    const { method = '', url: target = '', rawHeaders } = request
    const [path = ''] = target.split('?')
    const connection = numberOf.get(request.socket.remotePort) ?? 0
    const chunks = await request.toArray().catch(() => null)
    if (chunks === null) return // the client disconnected
    const body = Buffer.concat(chunks)
    const received: ReceivedRequest = { method, path, target, rawHeaders, body, receivedAt, endedAt: null, connection }
    requests.push(received)
    const end = () => {
      received.endedAt ??= performance.timeOrigin + performance.now()
    }
    // `prefinish` comes before the client can react to the response.
    response.once('prefinish', end).once('close', end)
    for (const check of watchers) check()
    const queue = answers.get(path) ?? []
    behave((queue.length > 1 ? queue.shift() : queue[0]) ?? options.otherwise ?? defaultReply, response)
  }

  const tls =
    options.certificateFor === undefined ? null : createCertificate(options.certificateFor, options.certificateFault)
  const server = tls
    ? createSecureServer({ ...tls, ...versions(options.maxTlsVersion) }, receive)
    : createServer(receive)
  server.on('connection', (socket: Socket) => {
    accepted += 1
    sockets.add(socket)
    numberOf.set(socket.remotePort, accepted)
    socket.on('error', () => {}) // clients of a misbehaving server may disconnect in any way
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe

  return {
    port,
    certificate: tls?.cert ?? null,
    requests,
    url: path => `${tls ? 'https' : 'http'}://127.0.0.1:${port}${path}`,
    requestsTo: path => requests.filter(request => request.path === path),
    connections: () => accepted,
    openConnections: () => sockets.size,
    answer(path, behaviour) {
      answers.set(path, [behaviour].flat())
    },
    waitFor(condition, timeoutMs = 5_000) {
      const isMet = typeof condition === 'number' ? () => requests.length >= condition : () => condition(requests)
      return waitUntil(isMet, watchers, timeoutMs).then(
        () => [...requests],
        () => Promise.reject(new Error(`Timed out after ${timeoutMs} ms with ${requests.length} requests.`)),
      )
    },
    async close() {
      if (!server.listening) return
      server.close()
      const ends = [...sockets].map(socket => new Promise(resolve => socket.once('close', resolve).destroy()))
      await Promise.all([once(server, 'close'), ...ends])
    },
  }
}

function versions(maxVersion: ReceiverOptions['maxTlsVersion']): TlsOptions {
  // OpenSSL refuses old versions above security level 0.
  return maxVersion ? { minVersion: 'TLSv1', maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' } : {}
}

function waitUntil(isMet: () => boolean, watchers: Set<() => void>, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (settle: () => void) => {
      clearTimeout(timer)
      watchers.delete(check)
      settle()
    }
    const timer = setTimeout(() => stop(reject), timeoutMs)
    const check = () => isMet() && stop(resolve)
    watchers.add(check)
    check()
  })
}
