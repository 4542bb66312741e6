import { AppError, networkOf } from '@belfry/domain'

const burst = 100
const everyMs = 1_000
const mostRemembered = 10_000

/** Counts the API keys that were refused, by the address that sent them, in this process. */
export type FailedKeys = {
  /** Throws `rate_limited` when an address has sent too many of them. */
  check(address: string): void
  count(address: string): void
}

/** Makes the count: a hundred at once, and one more each second. It needs no store, and so no store can be away. */
export function createFailedKeys(now: () => number = () => performance.now()): FailedKeys {
  const freeAt = new Map<string, number>()
  return {
    check(address) {
      const waitMs = (freeAt.get(networkOf(address)) ?? 0) - now() - (burst - 1) * everyMs
      if (waitMs <= 0) return
      const message = 'Too many wrong API keys came from your address. Try again later.'
      throw new AppError('rate_limited', message, { retryAfterMs: waitMs })
    },
    count(address) {
      const network = networkOf(address)
      const next = Math.max(freeAt.get(network) ?? 0, now()) + everyMs
      // The map keeps the order of insertion: whoever failed last is forgotten last.
      freeAt.delete(network)
      freeAt.set(network, next)
      const oldest = freeAt.size > mostRemembered ? freeAt.keys().next().value : undefined
      if (oldest !== undefined) freeAt.delete(oldest)
    },
  }
}
