import { isTransientDatabaseError } from '@belfry/db'
import { microBatch } from '@belfry/runtime'

/** What is known of a workspace, at once if it is remembered; undefined for one that does not exist. */
export type WorkspaceCache<T> = (workspaceId: string) => Promise<T | undefined> | T | undefined

/** How long a change may go unnoticed, and how long what was decrypted is kept. */
const rememberedMs = 5_000

/** Loads something of workspaces, many in one statement, and remembers it for a few seconds. Failures are not remembered. */
export function createWorkspaceCache<T>(
  load: (workspaceIds: string[]) => Promise<ReadonlyMap<string, T>>,
): WorkspaceCache<T> {
  const remembered = new Map<string, { known: Promise<T | undefined> | T | undefined }>()
  const ask = microBatch<string, T | undefined>({
    maxSize: 100,
    maxInFlight: 2,
    run: async ids => {
      const found = await load(ids)
      return ids.map(id => found.get(id))
    },
    split: error => !isTransientDatabaseError(error),
  })
  return workspaceId => {
    const memory = remembered.get(workspaceId)
    if (memory !== undefined) return memory.known
    const asked = ask(workspaceId)
    const own: { known: Promise<T | undefined> | T | undefined } = { known: asked }
    const forget = () => remembered.delete(workspaceId)
    remembered.set(workspaceId, own)
    asked.then(value => {
      own.known = value
    }, forget)
    setTimeout(forget, rememberedMs).unref()
    return asked
  }
}
