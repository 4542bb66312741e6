import { isDeepStrictEqual } from 'node:util'
import type { QueueField, UpdateQueueBody } from '@belfry/contract/queue'
import type { Db, Transaction } from '@belfry/db/postgres/in-transaction'
import { advanceQueues } from '@belfry/db/queues/advance-queues'
import { findQueueLimits, maxQueues, nameQueue, type QueueLimits, type StoredLimits } from '@belfry/db/queues/queues'
import { AppError } from '@belfry/domain/app-error'
import { audit } from '../audit/audit.ts'
import { type Allowed, requireRight } from '../auth/authorize.ts'
import { isEmpty } from '../http/given.ts'

/** Returns the limits of a queue that is named for the first time. */
export type QueueDefaults = (name: string) => UpdateQueueBody

/** A queue that a request creates, or whose limits it changes: then `changedBy` is its caller. */
export type PlannedQueue = { name: string; changedBy: Allowed<'queue.write'> | null; limits: UpdateQueueBody }

/**
 * Returns the queues that a request creates by naming them, and those whose limits it changes. To name a queue with the
 * limits that it has needs no right. Pinned limits stay as they are.
 * @throws AppError `forbidden` when the caller changes limits without `queue.write`.
 */
export async function planQueues(
  db: Db,
  caller: Allowed,
  queues: ReadonlyArray<QueueField | null | undefined>,
  defaults: QueueDefaults = () => ({}),
): Promise<PlannedQueue[]> {
  const wanted = new Map<string, UpdateQueueBody>()
  for (const queue of queues) {
    if (!queue) continue
    const { name, ...limits } = typeof queue === 'string' ? { name: queue } : queue
    wanted.set(name, { ...wanted.get(name), ...limits }) // the rows are in order, and the last one wins
  }
  if (wanted.size === 0) return []
  const known = await findQueueLimits(db, caller.workspaceId, [...wanted.keys()])
  const planned = [...wanted].flatMap(([name, limits]) => {
    const stored = known.get(name)
    const present: Record<string, unknown> = stored ? presentLimits(stored) : noLimits
    const changed = Object.entries(limits).filter(
      ([limit, value]) => !stored?.pinned.includes(limit) && !isDeepStrictEqual(value, present[limit]),
    )
    return stored && changed.length === 0 ? [] : [{ name, isNew: !stored, limits: Object.fromEntries(changed) }]
  })
  const setsLimits = planned.some(({ limits }) => !isEmpty(limits))
  const changedBy = setsLimits ? requireRight(caller, 'queue.write') : null
  return planned.map(({ name, isNew, limits }) =>
    isNew ? { name, changedBy: null, limits: { ...defaults(name), ...limits } } : { name, changedBy, limits },
  )
}

/** Creates or changes planned queues, in the transaction that stores what names them. */
export async function nameQueues(tx: Transaction, { workspaceId }: Allowed, planned: readonly PlannedQueue[]) {
  for (const { name, changedBy, limits } of planned) {
    const id = await setQueue(tx, workspaceId, name, limits)
    if (changedBy === null) continue
    await audit(tx, changedBy, { action: 'queue.changed', objectId: name, details: limits })
    await advanceQueues(tx, [id])
  }
}

/**
 * Creates a queue if it is new, and sets limits. `advanceQueues` must follow. Returns its id.
 * @throws AppError `conflict` when the workspace has as many queues as it may.
 */
export async function setQueue(tx: Transaction, workspaceId: string, name: string, limits: UpdateQueueBody) {
  const id = await nameQueue(tx, workspaceId, name, toLimits(limits))
  if (id !== null) return id
  throw new AppError('conflict', `A workspace has at most ${maxQueues} queues. Delete one first.`)
}

/** Returns the limits that a body sets. */
export function toLimits(body: UpdateQueueBody): Partial<QueueLimits> {
  const { max_concurrent: maxConcurrent, rate_limit: rate, ordered } = body
  return {
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(rate !== undefined && { rateLimit: rate && { count: rate.count, periodMs: rate.period_ms } }),
    ...(ordered !== undefined && { ordered }),
  }
}

const noLimits = { max_concurrent: null, rate_limit: null, ordered: false }

/** Returns the public form of the limits of a queue. */
export function presentLimits({ maxConcurrent, rateCount, ratePeriodMs, ordered }: StoredLimits) {
  const rate = rateCount === null || ratePeriodMs === null ? null : { count: rateCount, period_ms: ratePeriodMs }
  return { max_concurrent: maxConcurrent, rate_limit: rate, ordered }
}
