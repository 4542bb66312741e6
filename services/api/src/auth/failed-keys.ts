import { AppError, networkOf } from '@belfry/domain'

const burst = 100
const everyMs = 1_000
const mostRemembered = 10_000
const rememberedMs = 60_000

/** The API keys that were refused, and how many different ones each address has sent, in this process. */
export type FailedKeys = {
  /**
   * Whether the key was refused within the last minute; it cannot have become good since. A caller that goes on with a
   * revoked key costs no lookup, and does not keep others at its address out.
   */
  has(hash: Uint8Array): boolean
  /** Throws `rate_limited` when an address has sent too many different ones. */
  check(address: string): void
  add(hash: Uint8Array, address: string): void
}

/** Makes the record: a hundred at once, and one more each second. It needs no store, and so no store can be away. */
export function createFailedKeys(now: () => number = () => performance.now()): FailedKeys {
  const refusedUntil = new Map<string, number>()
  const freeAt = new Map<string, number>()
  const nameOf = (hash: Uint8Array) => Buffer.from(hash).toString('base64')
  return {
    has: hash => (refusedUntil.get(nameOf(hash)) ?? 0) > now(),
    check(address) {
      const waitMs = (freeAt.get(networkOf(address)) ?? 0) - now() - (burst - 1) * everyMs
      if (waitMs <= 0) return
      const message = 'Too many wrong API keys came from your address. Try again later.'
      throw new AppError('rate_limited', message, { retryAfterMs: waitMs })
    },
    add(hash, address) {
      const network = networkOf(address)
      putLast(refusedUntil, nameOf(hash), now() + rememberedMs)
      putLast(freeAt, network, Math.max(freeAt.get(network) ?? 0, now()) + everyMs)
    },
  }
}

// A map keeps the order of insertion: what was put last is forgotten last.
function putLast(map: Map<string, number>, name: string, value: number): void {
  map.delete(name)
  map.set(name, value)
  const oldest = map.size > mostRemembered ? map.keys().next().value : undefined
  if (oldest !== undefined) map.delete(oldest)
}
