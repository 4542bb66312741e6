import { promises as dns } from 'node:dns'

/** Every address of a name, as text; none where there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** No look-up takes longer. */
export const resolveTimeoutMs = 5_000

const secondFamilyMs = 250
const maxSystemLookups = 2
// Whatever asks again after these only waits again.
const silentCodes: readonly unknown[] = ['ETIMEOUT', 'ESERVFAIL']

/**
 * Asks DNS directly, because the operating system's resolver runs on a few threads that slow names would fill; what DNS
 * does not know, and names without a dot, may still stand in the hosts file or below a search domain.
 * @param servers - Where to ask. Default: the servers of the operating system.
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
    // Some servers never answer for the family that they do not have.
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

/** Resolves with no addresses after a time. */
export function nothingAfter(ms: number): Promise<string[]> {
  return new Promise(resolve => setTimeout(resolve, ms, []).unref())
}
