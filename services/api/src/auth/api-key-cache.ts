import type { FoundApiKey } from './find-api-key.ts'

/** How long a key that was found is remembered: a revocation is in force everywhere within this time. */
const rememberedMs = 5_000
const mostRemembered = 10_000

export type ApiKeyCache = {
  get(hash: Uint8Array): FoundApiKey | undefined
  /** Remembers a key, no longer than it is good for. */
  set(hash: Uint8Array, key: FoundApiKey, goodForMs?: number): void
  /** Forgets the keys of which this is true: they have just been revoked. */
  forget(isRevoked: (key: FoundApiKey) => boolean): void
}

export function createApiKeyCache(now: () => number = () => performance.now()): ApiKeyCache {
  const found = new Map<string, { key: FoundApiKey; until: number }>()
  const nameOf = (hash: Uint8Array) => Buffer.from(hash).toString('base64')
  return {
    get(hash) {
      const entry = found.get(nameOf(hash))
      return entry && entry.until > now() ? entry.key : undefined
    },
    set(hash, key, goodForMs = rememberedMs) {
      if (found.size >= mostRemembered) found.clear()
      found.set(nameOf(hash), { key, until: now() + Math.min(rememberedMs, goodForMs) })
    },
    forget(isRevoked) {
      for (const [name, { key }] of found) if (isRevoked(key)) found.delete(name)
    },
  }
}
