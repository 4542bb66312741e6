import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { microBatch, steadyTime } from '@belfry/runtime'
import { LRUCache } from 'lru-cache'

/** Values of workspaces. Each is cached for five seconds, and then removed from memory. */
export type WorkspaceCache<T> = ReturnType<typeof createWorkspaceCache<T>>

const cachedMs = 5_000

/** Creates a cache that loads the values of many workspaces in one statement. It does not cache failures. */
export function createWorkspaceCache<T>(load: (workspaceIds: string[]) => Promise<ReadonlyMap<string, T>>) {
  const cached = new LRUCache<string, { reading: Promise<T | undefined>; value: T | undefined }>({
    ttl: cachedMs,
    ttlAutopurge: true,
    ttlResolution: 0,
    perf: { now: steadyTime },
  })
  const read = microBatch<string, T | undefined>({
    maxSize: 100,
    maxInFlight: 2,
    run: async ids => {
      const found = await load(ids)
      return ids.map(id => found.get(id))
    },
    split: error => !isTransientDatabaseError(error),
  })

  function reload(workspaceId: string): Promise<T | undefined> {
    const reading = read(workspaceId)
    const entry = { reading, value: undefined as T | undefined }
    cached.set(workspaceId, entry)
    reading.then(
      value => {
        entry.value = value
      },
      () => {
        if (cached.get(workspaceId) === entry) cached.delete(workspaceId)
      },
    )
    return reading
  }

  return {
    /** Returns what was stored for a workspace at most five seconds ago; undefined for a workspace that does not exist. */
    get: (workspaceId: string): Promise<T | undefined> => cached.get(workspaceId)?.reading ?? reload(workspaceId),
    /** Returns the cached value; undefined if it is missing, or is being read. */
    peek: (workspaceId: string): T | undefined => cached.get(workspaceId)?.value,
    /** Returns the stored value, and caches it. */
    reload,
  }
}
