import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { type Cidr, classifyAddress } from '@belfry/domain'
import { BlockedAddressError, NameResolutionError } from './call-errors.ts'
import type { OwnListeners } from './own-listeners.ts'
import { createResolver, nothingAfter, type Resolve, resolveTimeoutMs } from './resolve-name.ts'

/** Decides where a connection may go. */
export type AddressGuard = {
  /**
   * Finds the addresses that may be dialled for a host, which is a name or an address.
   * @throws BlockedAddressError when just one of its addresses may not be called.
   * @throws NameResolutionError when it has none.
   */
  judge(host: string, port: number): Promise<LookupAddress[]>
}

export type GuardOptions = {
  /** Ranges that may be called although they are not public. */
  allowed: readonly Cidr[]
  /** What is refused whatever range it lies in. */
  listeners: Pick<OwnListeners, 'includesName' | 'includesAddress'>
  /** Where names come from. Default: DNS, then the operating system. */
  resolve?: Resolve
}

const addressCacheMs = 5_000

/** Resolves a name once, judges every address that comes back, and hands out only what it has judged. */
export function createAddressGuard({ allowed, listeners, resolve = createResolver() }: GuardOptions): AddressGuard {
  const recent = new Map<string, Promise<LookupAddress[]>>()

  async function addressesOf(hostname: string): Promise<LookupAddress[]> {
    const addresses = isIP(hostname) === 0 ? await withinTime(resolve(hostname)) : [hostname]
    if (addresses.length === 0) throw new NameResolutionError()
    if (!addresses.every(address => classifyAddress(address, allowed) === 'allowed')) throw new BlockedAddressError()
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
    async judge(host, port) {
      if (listeners.includesName(host, port)) throw new BlockedAddressError()
      const judged = await (recent.get(host) ?? remember(host))
      if (judged.some(({ address }) => listeners.includesAddress(address, port))) throw new BlockedAddressError()
      return judged
    },
  }
}

async function withinTime(answer: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await Promise.race([answer, nothingAfter(resolveTimeoutMs)])
  } catch (cause) {
    throw new NameResolutionError(undefined, { cause })
  }
}
