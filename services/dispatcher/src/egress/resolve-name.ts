import { promises as dns } from 'node:dns'

/** Returns every address of a name, as text. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export const resolveTimeoutMs = 5_000

const secondFamilyMs = 250
const maxSystemLookups = 2
// After these errors a second look-up would only wait again.
const silentCodes: readonly unknown[] = ['ETIMEOUT', 'ESERVFAIL']

/**
 * Creates a resolver. It asks DNS directly, because the resolver of the operating system runs on a few threads that slow
 * names would block. Names without a dot, and names that DNS does not have, may be in the hosts file or a search domain.
 * @param servers - The DNS servers. Default: the servers of the operating system.
 */
export function createResolver(servers?: readonly string[]): Resolve {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  const askSystem = createSystemResolver()

  return async hostname => {
    if (!hostname.includes('.')) return askSystem(hostname)
    const secondFamily = resolver.resolve6(hostname).catch(() => [])
    let isSilent = false
    const first = await resolver.resolve4(hostname).catch(error => {
      isSilent = silentCodes.includes(error.code)
      return []
    })
    // Some servers never answer for an address family that a name does not have.
    const second = await (first.length > 0 ? Promise.race([secondFamily, nothingAfter(secondFamilyMs)]) : secondFamily)
    const addresses = [...first, ...second]
    return addresses.length > 0 || isSilent ? addresses : askSystem(hostname)
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

export function nothingAfter(ms: number): Promise<string[]> {
  return new Promise(resolve => setTimeout(resolve, ms, []).unref())
}
