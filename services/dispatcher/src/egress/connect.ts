import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net'
import { createSecureContext, connect as openTls, type SecureContext } from 'node:tls'
import type { RunTimings } from '@belfry/domain/run-timings'
import { LRUCache } from 'lru-cache'
import type { buildConnector } from 'undici'
import { ConnectTimeoutError, TlsError } from './call-errors.ts'
import type { AddressGuard } from './guard-address.ts'

/** How long the steps of opening a connection took. A step that has not ended is null. */
export type ConnectTimings = Omit<RunTimings, 'firstByteMs'>

/**
 * Opens a connection to a target, and sets each timing when its step ends. Rejects with the signal's reason when the signal is
 * aborted.
 */
export type Connect = (target: buildConnector.Options, signal: AbortSignal, timings: ConnectTimings) => Promise<Socket>

/** Opens a TCP connection, or a tunnel in its place, to one of the checked addresses. */
export type Dial = (addresses: LookupAddress[], port: number, signal: AbortSignal) => Promise<Socket>

const connectTimeoutMs = 5_000
const maxTlsSessions = 1_000

/** Creates the function that opens connections. It dials only the addresses that the guard has checked. */
export function createConnect(
  guard: AddressGuard,
  secureContext = createTlsContext(),
  dial: Dial = dialDirectly,
): Connect {
  const startTls = createStartTls(secureContext)
  return async ({ hostname, protocol, port }, signal, timings) => {
    const lap = startStopwatch()
    const isSecure = protocol === 'https:'
    const number = Number(port || (isSecure ? 443 : 80))
    const addresses = await unlessAborted(guard.check(hostname, number), signal)
    timings.dnsMs = lap()
    const socket = await dial(addresses, number, signal)
    timings.connectMs = lap()
    if (!isSecure) return socket
    const secure = await startTls(socket, hostname, number, signal)
    timings.tlsMs = lap()
    return secure
  }
}

/** Returns a function that returns the milliseconds since its last call. */
function startStopwatch(): () => number {
  let from = performance.now()
  return () => {
    const ms = performance.now() - from
    from += ms
    return Math.round(ms)
  }
}

function dialDirectly(addresses: LookupAddress[], port: number, signal: AbortSignal): Promise<Socket> {
  const [first] = addresses
  const lookup: LookupFunction = (_host, _options, answer) => answer(null, addresses)
  const place =
    addresses.length > 1 ? { host: 'checked.invalid', lookup, autoSelectFamily: true } : { host: first?.address ?? '' }
  return whenReady(openTcp({ port, noDelay: true, ...place }), 'connect', signal)
}

function createStartTls(secureContext: SecureContext) {
  const sessions = new LRUCache<string, Buffer>({ max: maxTlsSessions })

  return async (socket: Socket, host: string, port: number, signal: AbortSignal): Promise<Socket> => {
    const peer = `${host}:${port}`
    const session = sessions.get(peer)
    const name = isIP(host) === 0 ? { servername: host.replace(/\.$/, '') } : { host }
    const options = { secureContext, session, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] }
    const secure = openTls({ socket, ...name, ...options })
    // Node emits a session only after the certificate was verified.
    secure.on('session', fresh => void sessions.set(peer, fresh))
    try {
      return await whenReady(secure, 'secureConnect', signal)
    } catch (error) {
      throw isAboutTls(error) && !signal.aborted ? new TlsError(undefined, { cause: error }) : error
    }
  }
}

/** Waits up to 5 seconds until a socket is connected. Destroys the socket on failure, or when the signal is aborted. */
function whenReady(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new ConnectTimeoutError()), connectTimeoutMs)
    const giveUp = () => socket.destroy(signal.reason)
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
    }
    // It stays: an error before the next listener is added would otherwise end the process.
    socket.on('error', error => {
      settle()
      reject(error)
    })
    socket.once(event, () => {
      settle()
      resolve(socket)
    })
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
  })
}

// A connection that breaks during the handshake has not failed because of TLS.
function isAboutTls(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return !['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(String(error.code))
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

function createTlsContext(): SecureContext {
  return createSecureContext({ minVersion: 'TLSv1.2' })
}
