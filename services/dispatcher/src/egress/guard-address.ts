import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { type Cidr, classifyAddress, isWithin } from '@belfry/domain/address'
import { isBlockedPort } from '@belfry/domain/target-url'
import { CallFailure, NameResolutionError } from './call-errors.ts'
import type { OwnListeners } from './own-listeners.ts'
import { createResolver, nothingAfter, type Resolve, resolveTimeoutMs } from './resolve-name.ts'
import { type EgressProxy, isPastProxy } from './tunnel.ts'

export type AddressGuard = ReturnType<typeof createAddressGuard>

export type AddressRules = {
  /** Ranges that may be called although they are not public. */
  allowedPrivateTargets: readonly Cidr[]
  /** Ranges that may not be called, although they are public or allowed. */
  blockedTargets: readonly Cidr[]
  /** Ports that may not be called even in allowed ranges. */
  listeners: Pick<OwnListeners, 'includesName' | 'includesAddress'>
  /** An HTTP proxy that the connections go through. Optional. */
  proxy?: EgressProxy | null
  /** Resolves names. Default: DNS, then the operating system. */
  resolve?: Resolve
}

const addressCacheMs = 5_000

/** Creates a guard. It resolves a name once, checks every address, and returns only addresses that it has checked. */
export function createAddressGuard(rules: AddressRules) {
  const { allowedPrivateTargets: allowed, blockedTargets: blocked, listeners, proxy } = rules
  const { resolve = createResolver() } = rules
  const mayCall = (address: string) => classifyAddress(address, allowed) === 'allowed' && !isWithin(address, blocked)
  const recent = new Map<string, Promise<LookupAddress[]>>()

  async function addressesOf(hostname: string): Promise<LookupAddress[]> {
    const lookUp = () => Promise.race([resolve(hostname), nothingAfter(resolveTimeoutMs)]).catch(() => [])
    const addresses = isIP(hostname) === 0 ? await lookUp() : [hostname]
    if (addresses.length === 0) throw new NameResolutionError()
    if (!addresses.every(mayCall)) throw new CallFailure('blocked_address')
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
    /**
     * Returns the addresses of a host name, or the given address. Returns the name itself when a proxy resolves it.
     * @throws CallFailure when one of them may not be called.
     * @throws NameResolutionError when the name cannot be resolved.
     */
    async check(host: string, port: number): Promise<LookupAddress[]> {
      if (isBlockedPort(port) || listeners.includesName(host, port)) throw new CallFailure('blocked_address')
      const isGuardedByProxy = proxy?.resolves && isIP(host) === 0 && !isPastProxy(proxy, host, port)
      if (isGuardedByProxy) return [{ address: host, family: 0 }]
      const checked = await (recent.get(host) ?? remember(host))
      if (checked.some(({ address }) => listeners.includesAddress(address, port)))
        throw new CallFailure('blocked_address')
      return checked
    },
  }
}
