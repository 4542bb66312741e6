import type { FoundApiKey } from './find-api-key.ts'

/** How long a key that was found is remembered: a revocation is in force everywhere within this time. */
const rememberedMs = 5_000
const mostRemembered = 10_000

/** Keys by the texts of their hashes. */
export type ApiKeyCache = {
  get(hash: string): FoundApiKey | undefined
  /** Remembers a key, no longer than it is good for. */
  set(hash: string, key: FoundApiKey, goodForMs?: number): void
  /** Forgets the keys of which this is true: they have just been revoked. */
  forget(isRevoked: (key: FoundApiKey) => boolean): void
}

export function createApiKeyCache(now: () => number = () => performance.now()): ApiKeyCache {
  const found = new Map<string, { key: FoundApiKey; until: number }>()
  return {
    get(hash) {
      const entry = found.get(hash)
      return entry && entry.until > now() ? entry.key : undefined
    },
    set(hash, key, goodForMs = rememberedMs) {
      if (found.size >= mostRemembered) found.clear()
      found.set(hash, { key, until: now() + Math.min(rememberedMs, goodForMs) })
    },
    forget(isRevoked) {
      for (const [name, { key }] of found) if (isRevoked(key)) found.delete(name)
    },
  }
}
