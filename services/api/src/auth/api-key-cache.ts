import type { FoundApiKey } from './find-api-key.ts'

/** How long a key that was found is remembered: a revocation is in force everywhere within this time. */
const rememberedMs = 5_000
const mostRemembered = 10_000

export type ApiKeyCache = {
  get(hash: Uint8Array): FoundApiKey | undefined
  set(hash: Uint8Array, key: FoundApiKey): void
}

export function createApiKeyCache(now: () => number = () => performance.now()): ApiKeyCache {
  const found = new Map<string, { key: FoundApiKey; until: number }>()
  const nameOf = (hash: Uint8Array) => Buffer.from(hash).toString('base64')
  return {
    get(hash) {
      const entry = found.get(nameOf(hash))
      return entry && entry.until > now() ? entry.key : undefined
    },
    set(hash, key) {
      if (found.size >= mostRemembered) found.clear()
      found.set(nameOf(hash), { key, until: now() + rememberedMs })
    },
  }
}
