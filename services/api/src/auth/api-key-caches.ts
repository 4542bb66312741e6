import { type Cidr, networkOf } from '@belfry/domain/address'
import { AppError } from '@belfry/domain/app-error'
import type { TierName } from '@belfry/domain/tiers'
import { steadyTime } from '@belfry/runtime'
import { LRUCache } from 'lru-cache'

/** An API key that is in force, and its owner. */
export type FoundApiKey = {
  keyId: string
  /** Whose requests per second the key uses: its own, or those of its federated credential, which has many keys. */
  allowanceId: string
  workspaceId: string
  organizationId: string
  tier: TierName
  scopes: readonly string[]
  /** Where the key may be used from. Empty: anywhere. */
  allowedRanges: readonly Cidr[]
  isSuspended: boolean
  /** Whether the time of the latest use is still to be written. */
  isUseStale: boolean
}

/** API keys that were found, by the base64 of their hashes. */
export type ApiKeyCache = LRUCache<string, FoundApiKey>

/** How long a key is cached: a revocation is in force everywhere within this time. */
export const cachedMs = 5_000

type Clock = { now(): number }

const options = { max: 10_000, ttlResolution: 0 }

export function createApiKeyCache(clock: Clock = { now: steadyTime }): ApiKeyCache {
  return new LRUCache({ ...options, ttl: cachedMs, perf: clock })
}

/** Drops the keys that have just been revoked. Other processes cache them for up to `cachedMs`. */
export function forgetApiKeys(cache: ApiKeyCache, isRevoked: (key: FoundApiKey) => boolean): void {
  for (const [hash, key] of cache.entries()) if (isRevoked(key)) cache.delete(hash)
}

const burst = 100
const everyMs = 1_000
const rejectedMs = 60_000
const rememberedMs = 24 * 3_600_000

/** The API keys that this process has rejected, and how many different ones each address has sent. */
export type RejectedKeys = {
  /**
   * Returns whether a key was rejected within the last minute; it cannot have become valid since. A caller that keeps
   * sending a revoked key costs no query, and does not lock out others at its address.
   */
  has(hash: string): boolean
  /**
   * Throws `rate_limited` when an address has sent too many different ones. A key that was right within a day passes: an
   * address can belong to an office, and those who guess do not lock out their neighbors.
   */
  check(hash: string, address: string): void
  add(hash: string, address: string): void
  /** Remembers a key that was right. */
  remember(hash: string): void
}

/** Counts rejected keys: an address may send a hundred at once, and one more each second. */
export function createRejectedKeys(clock: Clock = { now: steadyTime }): RejectedKeys {
  const rejected = new LRUCache<string, true>({ ...options, ttl: rejectedMs, perf: clock })
  const right = new LRUCache<string, true>({ ...options, ttl: rememberedMs, perf: clock })
  // When all keys that an address has sent are paid for.
  const freeAt = new LRUCache<string, number>(options)
  return {
    has: hash => rejected.has(hash),
    check(hash, address) {
      if (right.has(hash)) return
      const waitMs = (freeAt.get(networkOf(address)) ?? 0) - clock.now() - (burst - 1) * everyMs
      if (waitMs <= 0) return
      const message = 'Too many wrong API keys came from your address. Try again later.'
      throw new AppError('rate_limited', message, { retryAfterMs: waitMs })
    },
    add(hash, address) {
      const network = networkOf(address)
      rejected.set(hash, true)
      right.delete(hash)
      freeAt.set(network, Math.max(freeAt.get(network) ?? 0, clock.now()) + everyMs)
    },
    remember: hash => void right.set(hash, true),
  }
}
