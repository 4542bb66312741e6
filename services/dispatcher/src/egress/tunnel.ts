import { isIP, type Socket } from 'node:net'
import { isAllowedHost } from '@belfry/domain/secrets/allowed-hosts'
import { Client, type Dispatcher, errors } from 'undici'
import { CallFailure, connectTimeout, ProxyError } from './call-errors.ts'
import { type Dial, dialDirectly } from './connect.ts'

const proxyTimeoutMs = 5_000
const answerTimeoutMs = 10_000
const maxHeaderBytes = 16 * 1024
// With these statuses a proxy reports a failure of the target, or refuses it. Any other one is a failure of the proxy.
const refusals = [403, 502, 503, 504]

export type EgressProxy = {
  /** With its credentials. */
  url: URL
  /** Whether it resolves names, and guards the addresses. Otherwise it gets checked addresses, and cannot resolve others. */
  resolves: boolean
  /** The patterns of the hosts that are called past it. */
  exceptions: readonly string[]
}

export function isPastProxy({ exceptions }: EgressProxy, host: string, port: number): boolean {
  return exceptions.length > 0 && isAllowedHost(exceptions, `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`)
}

/** Creates a dial function that reaches targets through an HTTP proxy, with a CONNECT for each connection. */
export function createTunnelDial(egress: EgressProxy): Dial {
  const proxy = egress.url
  return async (target, port, signal, host) => {
    if (isPastProxy(egress, host, port)) return dialDirectly(target, port, signal)
    const { address, family } = target
    const authority = family === 6 ? `[${address}]:${port}` : `${address}:${port}`
    const client = new Client(proxy.origin, {
      connect: { timeout: proxyTimeoutMs },
      headersTimeout: answerTimeoutMs,
      maxHeaderSize: maxHeaderBytes,
    })
    let isReached = false
    client.once('connect', () => {
      isReached = true
    })
    const giveUp = () => void client.destroy(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    let answer: Dispatcher.ConnectData
    try {
      answer = await client.connect({ path: authority, headers: { host: authority, ...credentials(proxy) } })
    } catch (error) {
      // Once the proxy has accepted the connection, it waits for the target.
      if (isReached && signal.aborted) throw signal.reason
      if (isReached && error instanceof errors.HeadersTimeoutError) throw connectTimeout()
      throw new ProxyError(undefined, { cause: error })
    } finally {
      signal.removeEventListener('abort', giveUp)
      client.destroy(() => {})
    }
    return accept(answer.statusCode, answer.headers, answer.socket as Socket)
  }
}

function accept(status: number, headers: Record<string, string | string[] | undefined>, socket: Socket): Socket {
  socket.on('error', () => {}) // until the client of the socket adds its listener
  if (status >= 200 && status <= 299) return socket
  socket.destroy()
  // Some proxies refuse a target with 407. A proxy that requires credentials adds this header.
  const isRefusal = refusals.includes(status) || (status === 407 && !headers['proxy-authenticate'])
  if (isRefusal)
    throw new CallFailure('connection_refused', `The egress proxy does not connect to the target (status ${status}).`)
  throw new ProxyError(`status ${status}`)
}

function credentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}
