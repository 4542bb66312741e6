/** The workspaces of keys that were found a moment ago: a revocation is in force everywhere within this time. */
const rememberedMs = 5_000
const mostRemembered = 10_000

export type ApiKeyCache = {
  get(hash: Uint8Array): string | undefined
  set(hash: Uint8Array, workspaceId: string): void
}

export function createApiKeyCache(now: () => number = () => performance.now()): ApiKeyCache {
  const found = new Map<string, { workspaceId: string; until: number }>()
  const nameOf = (hash: Uint8Array) => Buffer.from(hash).toString('base64')
  return {
    get(hash) {
      const entry = found.get(nameOf(hash))
      return entry && entry.until > now() ? entry.workspaceId : undefined
    },
    set(hash, workspaceId) {
      if (found.size >= mostRemembered) found.clear()
      found.set(nameOf(hash), { workspaceId, until: now() + rememberedMs })
    },
  }
}
