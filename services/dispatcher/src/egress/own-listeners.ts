import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Cidr, classifyAddress, isWithin, parseCidrs } from '@belfry/domain/address'
import type { Resolve } from './resolve-name.ts'

/** A port of this installation, or of a server that it uses. */
export type Listener = {
  /** A name or an address. */
  host: string
  port: number
  /** Whether others may share its public addresses, as with a load balancer. Default: false. */
  isShared?: boolean
  /** Whether users may also call it by its name, as a service of others. Default: false. */
  isForeign?: boolean
}

/** The ports that no target may use, even in allowed ranges. */
export type OwnListeners = ReturnType<typeof createOwnListeners>

type KnownListener = Listener & { addresses: readonly string[] }

/**
 * Keeps the listeners of this installation, with their addresses.
 * @param ports - The ports that this process listens on. It may listen on more later.
 * @param here - The addresses of this machine.
 */
export function createOwnListeners(
  listeners: readonly Listener[],
  resolve: Resolve,
  ports: ReadonlySet<number> = new Set(),
  here: () => readonly Cidr[] = thisMachine,
) {
  const known = listeners.map((listener): KnownListener => {
    const host = plainName(listener.host)
    return { addresses: isIP(host) === 0 ? [] : [host], ...listener, host }
  })
  const at = (port: number) => known.filter(listener => listener.port === port)

  async function lookUp(listener: KnownListener): Promise<void> {
    const found = await resolve(listener.host).catch(() => [])
    if (found.length === 0) return
    listener.addresses = listener.isShared ? found.filter(address => classifyAddress(address, []) === 'blocked') : found
  }

  return {
    /** Resolves the names of all listeners again. A name that cannot be resolved keeps its addresses. */
    async refresh(): Promise<void> {
      await Promise.all(known.filter(({ host }) => isIP(host) === 0).map(lookUp))
    },
    includesName: (host: string, port: number): boolean =>
      at(port).some(({ host: own, isForeign }) => own === plainName(host) && !isForeign),
    includesAddress(address: string, port: number): boolean {
      if (ports.has(port) && isWithin(address, here())) return true
      const addresses = at(port).flatMap(listener => listener.addresses)
      if (addresses.length === 0) return false
      if (isWithin(address, exactly(addresses))) return true
      // A program on this machine usually listens on each of its addresses.
      const local = here()
      return isWithin(address, local) && addresses.some(own => isWithin(own, local))
    },
  }
}

function thisMachine(): Cidr[] {
  const found = Object.values(networkInterfaces()).flatMap(entries => entries ?? [])
  return [...parseCidrs('0.0.0.0/8,127.0.0.0/8,::/127'), ...exactly(found.map(({ address }) => address))]
}

function exactly(addresses: readonly string[]): Cidr[] {
  // The operating system may add the zone of a link-local address.
  const plain = addresses.map(address => address.replace(/%.*/, '')).filter(address => isIP(address) !== 0)
  return parseCidrs(plain.map(address => `${address}/${isIP(address) === 4 ? 32 : 128}`).join())
}

function plainName(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}
