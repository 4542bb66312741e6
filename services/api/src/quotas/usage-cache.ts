import type { Db } from '@belfry/db/postgres/in-transaction'
import type { Usage } from '@belfry/db/usage/read-usage'
import { steadyTime } from '@belfry/runtime'
import { LRUCache } from 'lru-cache'

// Every creation asks for its organization's usage. A quota may be enforced this late.
const ttl = 2_000
const max = 10_000

/** What organizations have used, as read within the last two seconds. */
export type UsageCache = {
  /**
   * Returns the usage of an organization; null when the organization does not exist.
   * @param tx - The transaction that the caller has open. Such a caller reads with its own connection, because a read
   * that another caller has started may be waiting for one.
   */
  get(organizationId: string, tx?: Db): Promise<Usage | null>
  /** Drops the usage of an organization whose tier has changed. */
  delete(organizationId: string): void
}

type Read = { usage: Promise<Usage | null>; isDone: boolean }

export function createUsageCache(
  readUsage: (organizationId: string, tx?: Db) => Promise<Usage | null>,
  clock: { now(): number } = { now: steadyTime },
): UsageCache {
  const reads = new LRUCache<string, Read>({ max, ttl, ttlResolution: 0, perf: clock })
  return {
    get(organizationId, tx) {
      const cached = reads.get(organizationId)
      if (cached && (cached.isDone || !tx)) return cached.usage
      const read = { usage: readUsage(organizationId, tx), isDone: false }
      reads.set(organizationId, read)
      read.usage.then(
        () => {
          read.isDone = true
        },
        () => reads.peek(organizationId) === read && reads.delete(organizationId),
      )
      return read.usage
    },
    delete(organizationId) {
      reads.delete(organizationId)
    },
  }
}
