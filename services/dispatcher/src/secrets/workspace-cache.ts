import { isTransientDatabaseError } from '@belfry/db'
import { microBatch } from '@belfry/runtime'

export type WorkspaceCache<T> = {
  /** Returns what is stored for a workspace, at once if it is cached; undefined for a workspace that does not exist. */
  (workspaceId: string): Promise<T | undefined> | T | undefined
  /** Returns what is stored now, whatever is cached. */
  reload(workspaceId: string): Promise<T | undefined>
}

/** For how long a change may go unseen, and decrypted values are kept. */
const cachedMs = 5_000

/** Loads values of workspaces, many in one statement, and caches each for a few seconds. Failures are not cached. */
export function createWorkspaceCache<T>(
  load: (workspaceIds: string[]) => Promise<ReadonlyMap<string, T>>,
): WorkspaceCache<T> {
  type Entry = { value: Promise<T | undefined> | T | undefined }
  const cached = new Map<string, Entry>()
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
    const entry: Entry = { value: reading }
    const evict = () => {
      if (cached.get(workspaceId) === entry) cached.delete(workspaceId)
    }
    cached.set(workspaceId, entry)
    reading.then(value => {
      entry.value = value
    }, evict)
    setTimeout(evict, cachedMs).unref()
    return reading
  }

  function get(workspaceId: string) {
    const entry = cached.get(workspaceId)
    return entry === undefined ? reload(workspaceId) : entry.value
  }
  return Object.assign(get, { reload })
}
