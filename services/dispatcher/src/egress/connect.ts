import type { LookupAddress } from 'node:dns'
import { isIP, connect as openTcp, type Socket } from 'node:net'
import { createSecureContext, DEFAULT_CIPHERS, connect as openTls, type SecureContext } from 'node:tls'
import type { RunTimings } from '@belfry/domain/run-timings'
import { LRUCache } from 'lru-cache'
import type { buildConnector } from 'undici'
import { connectTimeout, TlsError } from './call-errors.ts'
import type { AddressGuard } from './guard-address.ts'

/** How long the steps of opening a connection took. A step that has not ended is null. */
export type ConnectTimings = Omit<RunTimings, 'firstByteMs'>

/**
 * Opens a connection to a target, and sets each timing when its step ends. Rejects with the signal's reason when the signal is
 * aborted.
 */
export type Connect = (target: buildConnector.Options, signal: AbortSignal, timings: ConnectTimings) => Promise<Socket>

/** Opens a TCP connection, or a tunnel in its place, to a checked address of a host. */
export type Dial = (address: LookupAddress, port: number, signal: AbortSignal, host: string) => Promise<Socket>

const connectTimeoutMs = 5_000
// RFC 8305 calls it the connection attempt delay.
const nextAddressMs = 250
const maxTlsSessions = 1_000

/**
 * The rules of TLS for all targets. Without finite-field Diffie-Hellman: the target would choose its size, and one handshake of
 * 10,000 bits blocks the event loop for 0.7 s.
 */
export const tlsRules = {
  minVersion: 'TLSv1.2',
  ciphers: `${DEFAULT_CIPHERS}:!DHE`,
  // TLS 1.3 has such groups too. OpenSSL 3.5 only offers groups up to 3,072 bits, and adds groups for post-quantum
  // keys.
  ecdhCurve: Number.parseFloat(process.versions.openssl) < 3.5 ? 'X25519:prime256v1:X448:secp521r1:secp384r1' : 'auto',
} as const

/** Creates the function that opens connections. It dials only the addresses that the guard has checked. */
export function createConnect(
  guard: AddressGuard,
  secureContext = createSecureContext(tlsRules),
  dial: Dial = dialDirectly,
): Connect {
  const startTls = createStartTls(secureContext)
  return async ({ hostname, protocol, port }, signal, timings) => {
    const lap = startStopwatch()
    const isSecure = protocol === 'https:'
    const number = Number(port || (isSecure ? 443 : 80))
    const addresses = await unlessAborted(guard.check(hostname, number), signal)
    timings.dnsMs = lap()
    const socket = await dialFirst(dial, hostname, addresses, number, signal)
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

/**
 * Dials the addresses in their order. The next one starts when one fails, or after a pause, while the earlier ones continue;
 * the first that connects wins. Rejects with the error of the first address when all have failed.
 */
function dialFirst(dial: Dial, host: string, addresses: LookupAddress[], port: number, signal: AbortSignal) {
  return new Promise<Socket>((resolve, reject) => {
    const over = new AbortController()
    const errors: unknown[] = []
    const waiting = [...addresses.entries()]
    let inFlight = 0
    let timer: NodeJS.Timeout | undefined

    function startNext(): void {
      clearTimeout(timer)
      const next = waiting.shift()
      if (next === undefined || over.signal.aborted) return
      const [index, address] = next
      inFlight += 1
      // The pauses grow, so a name with many dead addresses holds few sockets.
      timer = setTimeout(startNext, nextAddressMs * inFlight)
      dial(address, port, AbortSignal.any([signal, over.signal]), host).then(win, error => fail(index, error))
    }

    function win(socket: Socket): void {
      if (over.signal.aborted) return void socket.destroy()
      clearTimeout(timer)
      over.abort()
      resolve(socket)
    }

    function fail(index: number, error: unknown): void {
      inFlight -= 1
      errors[index] = error
      if (signal.aborted) over.abort()
      startNext()
      if (inFlight === 0) reject(errors[0])
    }

    startNext()
  })
}

export function dialDirectly({ address }: LookupAddress, port: number, signal: AbortSignal): Promise<Socket> {
  return whenReady(openTcp({ port, host: address, noDelay: true }), 'connect', signal)
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
    const timer = setTimeout(() => socket.destroy(connectTimeout()), connectTimeoutMs)
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
