import { type Db, isInTransaction } from '@belfry/db/postgres/in-transaction'
import { consumeAttempt } from '@belfry/db/throttle'
import type { Usage } from '@belfry/db/usage/read-usage'
import { AppError } from '@belfry/domain/app-error'
import { figureNames, type TierLimits, type Tiers } from '@belfry/domain/tiers'
import { steadyTime } from '@belfry/runtime'
import { LRUCache } from 'lru-cache'

/** What the tier of an organization allows, and what the organization has used. */
export type Quota = { limits: TierLimits; used: { executions: number; storageBytes: number } }

type QuotaContext = { config: { tiers: Tiers }; usageCache: UsageCache; db?: Db }

/** Returns the quota of an organization, at most two seconds old. */
export async function readQuota({ config, usageCache, db }: QuotaContext, organizationId: string): Promise<Quota> {
  const usage = await usageCache.get(organizationId, db && isInTransaction(db) ? db : undefined)
  return usage === null ? unlimited : { limits: config.tiers[usage.tier], used: usage }
}

// The quota of an organization that was just deleted: later checks reject the request.
const unlimited: Quota = {
  limits: Object.fromEntries(Object.keys(figureNames).map(name => [name, Number.POSITIVE_INFINITY])) as TierLimits, // the names of the limits
  used: { executions: 0, storageBytes: 0 },
}

/**
 * Rejects a creation when the organization is over its storage quota. A creation that starts `at_once` is also rejected
 * when the month has no executions left; a `later` start may be in another month or tier.
 * @throws AppError `quota_exceeded`
 */
export function refuseOverQuota({ limits, used }: Quota, starts: 'at_once' | 'later'): void {
  if (used.storageBytes > limits.storageBytes) {
    const message = `The organization stores more than the ${limits.storageBytes} bytes of its tier. Choose a higher tier, or wait until older runs expire.`
    throw new AppError('quota_exceeded', message)
  }
  if (starts === 'at_once' && used.executions >= limits.executions) {
    const message = `The organization has used the ${limits.executions} executions of its tier for this month. Choose a higher tier, or wait for the next month.`
    throw new AppError('quota_exceeded', message)
  }
}

/**
 * Rejects a payload that is larger than the tier allows.
 * @param payload - Its JSON text. Optional.
 * @throws AppError `quota_exceeded`
 */
export function refuseLargePayload({ limits }: Quota, payload: string | null | undefined): void {
  const bytes = Buffer.byteLength(payload ?? '')
  if (bytes <= limits.payloadBytes) return
  const message = `The payload has ${bytes} bytes; the tier allows ${limits.payloadBytes}. Send a reference, or choose a higher tier.`
  throw new AppError('quota_exceeded', message)
}

const owners = {
  pendingTasks: 'workspace',
  cronJobs: 'workspace',
  apiKeys: 'workspace',
  secrets: 'workspace',
  members: 'organization',
  invitations: 'organization',
} as const satisfies Partial<Record<keyof TierLimits, string>>

/** A limit on the number of objects in a workspace or an organization. */
export type CountLimit = keyof typeof owners

/**
 * Rejects one more object when `count` has reached the limit. Exact when `count` was read under a lock that is held until
 * the creation is committed.
 * @throws AppError `quota_exceeded`
 */
export function refuseOverCount({ limits }: Quota, name: CountLimit, count: number): void {
  if (count >= limits[name]) throw overCount(name, limits[name])
}

export function overCount(name: CountLimit, limit: number): AppError {
  const objects = figureNames[name].replace('_', ' ')
  const message = `This tier allows ${limit} ${objects} per ${owners[name]}. Remove some, or choose a higher tier.`
  return new AppError('quota_exceeded', message)
}

const minuteMs = 60_000

/**
 * Counts the tasks of one event beyond its first, and all tasks that a target creates while Belfry calls it. Each of these
 * may lead to as many again, so an organization may create a limited number in a minute.
 * @throws AppError `rate_limited`.
 */
export async function chargeFanOut(db: Db, { limits }: Quota, organizationId: string, count: number): Promise<void> {
  const { fanOut } = limits
  if (fanOut === Number.POSITIVE_INFINITY) return
  const throttle = { burst: fanOut, everyMs: minuteMs / fanOut }
  const waitMs = await consumeAttempt(db, `fan-out of ${organizationId}`, throttle, count)
  if (waitMs === 0) return
  const message = `Events with several subscriptions, and targets that Belfry calls, may create ${fanOut} tasks a minute in this tier. Try again later, or choose a higher tier.`
  throw new AppError('rate_limited', message, { retryAfterMs: waitMs })
}

// Every creation asks for its organization's usage. A quota may be enforced this late.
const ttl = 2_000
const max = 10_000

type Read = { usage: Promise<Usage | null>; isDone: boolean }

type UsageCache = ReturnType<typeof createUsageCache>

/** Keeps what organizations have used, as read within the last two seconds. */
export function createUsageCache(
  readUsage: (organizationId: string, tx?: Db) => Promise<Usage | null>,
  clock: { now(): number } = { now: steadyTime },
) {
  const reads = new LRUCache<string, Read>({ max, ttl, ttlResolution: 0, perf: clock })
  return {
    /**
     * Returns the usage of an organization; null when the organization does not exist.
     * @param tx - The transaction that the caller has open. Such a caller reads with its own connection, because a read
     * that another caller has started may be waiting for one.
     */
    get(organizationId: string, tx?: Db): Promise<Usage | null> {
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
    /** Drops the usage of an organization whose tier has changed. */
    delete(organizationId: string): void {
      reads.delete(organizationId)
    },
  }
}
