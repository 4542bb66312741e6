import { promises as dns, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net'
import { createSecureContext, connect as openTls, type SecureContext } from 'node:tls'
import { type Cidr, classifyAddress } from '@belfry/domain'
import type { buildConnector } from 'undici'

export class BlockedAddressError extends Error {}
export class NameResolutionError extends Error {}
export class ConnectTimeoutError extends Error {}
/** Its cause is the error of the handshake. */
export class TlsError extends Error {}

/** Every address of a name, as text. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** What may be connected to. Node asks `lookup` for names only, so literals have to be shown to `permits`. */
export type AddressGuard = { permits(address: string): boolean; lookup: LookupFunction }

/** Opens a socket to a permitted address; it is returned while it connects, so that it can be given up. */
export type Connect = (target: buildConnector.Options, callback: buildConnector.Callback) => Socket | null

const resolveTimeoutMs = 5_000
const connectTimeoutMs = 10_000
const addressCacheMs = 5_000
const secondFamilyMs = 250
const maxSystemLookups = 2
const maxTlsSessions = 1_000

/** Resolves a name once, judges every address that comes back, and hands out only what it has judged. */
export function createAddressGuard(allowed: readonly Cidr[], resolve: Resolve = createResolver()): AddressGuard {
  const permits = (address: string) => classifyAddress(address, allowed) === 'allowed'
  const recent = new Map<string, Promise<LookupAddress[]>>()

  async function addressesOf(hostname: string): Promise<LookupAddress[]> {
    const addresses = await withinTime(resolve(hostname))
    if (addresses.length === 0) throw new NameResolutionError()
    if (!addresses.every(permits)) throw new BlockedAddressError()
    return addresses.map(address => ({ address, family: isIP(address) }))
  }

  function remember(hostname: string): Promise<LookupAddress[]> {
    const fresh = addressesOf(hostname)
    recent.set(hostname, fresh)
    const forget = () => recent.delete(hostname)
    fresh.then(() => setTimeout(forget, addressCacheMs).unref(), forget)
    return fresh
  }

  return {
    permits,
    lookup(hostname, { all }, callback) {
      const judged = recent.get(hostname) ?? remember(hostname)
      judged.then(
        addresses => {
          const [first] = addresses
          if (all) callback(null, addresses)
          else callback(null, first?.address ?? '', first?.family)
        },
        error => callback(error, ''),
      )
    },
  }
}

/** Opens sockets for a client: the judged address is the dialled one. */
export function createConnect(guard: AddressGuard, secureContext: SecureContext = createTlsContext()): Connect {
  const sessions = new Map<string, Buffer>()

  function openSecure(endpoint: { host: string; port: number }, options: object): Socket {
    const peer = `${endpoint.host}:${endpoint.port}`
    const session = sessions.get(peer)
    const name = isIP(endpoint.host) === 0 ? { servername: endpoint.host.replace(/\.$/, '') } : {}
    const tls = { secureContext, session, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] }
    const socket = openTls({ ...endpoint, ...options, ...name, ...tls })
    // Node emits a session only after the certificate was verified.
    return socket.on('session', fresh => {
      sessions.delete(peer)
      sessions.set(peer, fresh)
      const [oldest] = sessions.keys()
      if (sessions.size > maxTlsSessions && oldest) sessions.delete(oldest)
    })
  }

  return ({ hostname, protocol, port }, callback) => {
    if (isIP(hostname) !== 0 && !guard.permits(hostname)) {
      queueMicrotask(() => callback(new BlockedAddressError(), null))
      return null
    }
    const isSecure = protocol === 'https:'
    const endpoint = { host: hostname, port: Number(port || (isSecure ? 443 : 80)) }
    const options = { lookup: guard.lookup, autoSelectFamily: true, noDelay: true }
    const socket = isSecure ? openSecure(endpoint, options) : openTcp({ ...endpoint, ...options })
    watchConnecting(socket, isSecure, callback)
    return socket
  }
}

function watchConnecting(socket: Socket, isSecure: boolean, callback: buildConnector.Callback): void {
  let isConnecting = true
  let isHandshaking = false
  const timer = setTimeout(() => socket.destroy(new ConnectTimeoutError()), connectTimeoutMs)
  const finish = (...result: Parameters<buildConnector.Callback>) => {
    clearTimeout(timer)
    if (isConnecting) callback(...result)
    isConnecting = false
  }
  socket.once('connect', () => {
    isHandshaking = isSecure
  })
  socket.once(isSecure ? 'secureConnect' : 'connect', () => finish(null, socket))
  socket.on('error', error => finish(isHandshaking ? asTlsError(error) : error, null))
  socket.once('close', () => clearTimeout(timer))
}

// A connection that breaks during the handshake has not failed because of TLS.
function asTlsError(error: NodeJS.ErrnoException): Error {
  const isBroken =
    error instanceof ConnectTimeoutError || ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(error.code ?? '')
  return isBroken ? error : new TlsError(undefined, { cause: error })
}

function createTlsContext(): SecureContext {
  return createSecureContext({ minVersion: 'TLSv1.2' })
}

/**
 * Asks DNS directly, because the operating system's resolver runs on a few threads that slow names would fill; what DNS
 * does not know, and names without a dot, may still stand in the hosts file or below a search domain.
 */
function createResolver(): Resolve {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 })
  const askSystem = createSystemResolver()

  return async hostname => {
    if (!hostname.includes('.')) return askSystem(hostname)
    const secondFamily = resolver.resolve6(hostname).catch(() => [])
    const first = await resolver.resolve4(hostname).catch(() => [])
    // Some servers never answer for the family that they do not have.
    const second = await (first.length > 0 ? Promise.race([secondFamily, nothingAfter(secondFamilyMs)]) : secondFamily)
    const addresses = [...first, ...second]
    return addresses.length > 0 ? addresses : askSystem(hostname)
  }
}

function createSystemResolver(): Resolve {
  let running = 0
  const waiting: (() => void)[] = []

  return async hostname => {
    const giveUpAt = performance.now() + resolveTimeoutMs
    while (running >= maxSystemLookups) await new Promise<void>(resolve => waiting.push(resolve))
    running += 1
    try {
      if (performance.now() > giveUpAt) return []
      const found = await dns.lookup(hostname, { all: true })
      return found.map(({ address }) => address)
    } finally {
      running -= 1
      waiting.shift()?.()
    }
  }
}

async function withinTime(answer: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await Promise.race([answer, nothingAfter(resolveTimeoutMs)])
  } catch (cause) {
    throw new NameResolutionError(undefined, { cause })
  }
}

function nothingAfter(ms: number): Promise<string[]> {
  return new Promise(resolve => setTimeout(resolve, ms, []).unref())
}
