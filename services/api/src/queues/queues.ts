import { isDeepStrictEqual } from 'node:util'
import { operations } from '@belfry/contract/operations'
import type { Queue, QueueField, UpdateQueueBody } from '@belfry/contract/queue'
import { type Db, inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { advanceQueues } from '@belfry/db/queues/advance-queues'
import {
  changeQueue,
  deleteQueue as deleteStored,
  findQueue,
  findQueueLimits,
  listQueues as listStored,
  maxQueues,
  nameQueue,
  pauseQueue as pauseStored,
  type QueueLimits,
  type QueueRow,
  type StoredLimits,
} from '@belfry/db/queues/queues'
import { AppError, notFound } from '@belfry/domain/app-error'
import { queueNameForm } from '@belfry/domain/queue-name'
import { audit } from '../audit/audit.ts'
import { type Allowed, requireRight } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { isEmpty } from '../http/given.ts'
import { type PageRows, readPage } from '../http/page.ts'

export const listQueues = endpoint(operations.listQueues, async (ctx, { caller: { workspaceId }, query }) => {
  const find = async ({ after, take }: PageRows) => {
    const rows = await listStored(ctx.pool, workspaceId, { after, prefix: query.name, limit: take })
    return rows.map(row => ({ ...row, id: row.name }))
  }
  return readPage(`queues:${workspaceId}`, query, find, presentQueue, queueNameForm)
})

export const getQueue = endpoint(operations.getQueue, readQueue)

export const putQueue = endpoint(operations.putQueue, async (ctx, input) => {
  const { caller, body } = input
  const name = input.params.queue
  if (!queueNameForm.test(name)) throw notFound()
  await moveQueue(ctx, caller, { name, action: 'queue.changed', details: body }, tx =>
    setQueue(tx, caller.workspaceId, name, body),
  )
  return readQueue(ctx, input)
})

export const updateQueue = endpoint(operations.updateQueue, async (ctx, input) => {
  const { caller, body } = input
  const name = input.params.queue
  if (Object.keys(body).length > 0) {
    await moveQueue(ctx, caller, { name, action: 'queue.changed', details: body }, tx =>
      changeQueue(tx, caller.workspaceId, name, toLimits(body)),
    )
  }
  return readQueue(ctx, input)
})

export const pauseQueue = endpoint(operations.pauseQueue, (ctx, input) => setPaused(ctx, input, true))
export const resumeQueue = endpoint(operations.resumeQueue, (ctx, input) => setPaused(ctx, input, false))

export const deleteQueue = endpoint(operations.deleteQueue, (ctx, input) =>
  removeQueue(ctx, input.caller, input.params.queue),
)

type QueueChange = {
  name: string
  action: 'queue.changed' | 'queue.paused' | 'queue.resumed'
  details?: Readonly<Record<string, unknown>>
}

/** Changes a queue in a transaction with its audit entry, then wakes its tasks. `change` returns the queue's id. */
export async function moveQueue(
  ctx: Context,
  caller: Allowed<'queue.write'>,
  { name, action, details = {} }: QueueChange,
  change: (tx: Transaction, workspaceId: string) => Promise<string | null>,
): Promise<void> {
  const id = await inTransaction(ctx.pool, async tx => {
    const found = await change(tx, caller.workspaceId)
    if (found === null) throw notFound()
    await audit(tx, caller, action, name, details)
    return found
  })
  await advanceQueues(ctx.pool, [id])
}

export function movePause(ctx: Context, caller: Allowed<'queue.write'>, name: string, isPaused: boolean) {
  const action = isPaused ? 'queue.paused' : 'queue.resumed'
  return moveQueue(ctx, caller, { name, action }, async (tx, workspaceId) => {
    return (await pauseStored(tx, workspaceId, name, isPaused))?.id ?? null
  })
}

/**
 * Deletes the settings of a queue that is not in use.
 * @param endTasks - Ends the tasks that wait in the queue. Attempts in flight then do not keep the queue. Default:
 * tasks keep it.
 */
export async function removeQueue(
  ctx: Context,
  caller: Allowed<'queue.delete'>,
  name: string,
  endTasks?: () => Promise<unknown>,
): Promise<void> {
  const remove = (mayRun: boolean) =>
    inTransaction(ctx.pool, async tx => {
      const result = await deleteStored(tx, caller.workspaceId, name, { mayRun })
      if (result === 'deleted') await audit(tx, caller, 'queue.deleted', name)
      return result
    })
  let result = await remove(false)
  if (result === 'has_tasks' && endTasks) {
    await endTasks()
    result = await remove(true)
  }
  if (result === 'unknown') throw notFound()
  if (result !== 'deleted') {
    throw new AppError(
      'queue_in_use',
      'The queue has unfinished tasks, or a cron job or a subscription names it. Cancel or move these first.',
    )
  }
}

type OfQueue<Caller> = { caller: Caller; params: { queue: string } }

async function setPaused(ctx: Context, input: OfQueue<Allowed<'queue.write'>>, isPaused: boolean) {
  await movePause(ctx, input.caller, input.params.queue, isPaused)
  return readQueue(ctx, input)
}

async function readQueue(ctx: Context, input: OfQueue<Allowed<'queue.read' | 'queue.write'>>) {
  const row = await findQueue(ctx.pool, input.caller.workspaceId, input.params.queue)
  return row ? presentQueue(row) : null
}

function presentQueue(row: QueueRow): Queue {
  return {
    name: row.name,
    ...presentLimits(row),
    paused_at: row.pausedAt?.toISOString() ?? null,
    waiting: row.waiting,
    in_flight: row.inFlight,
    oldest_due_ms: row.oldestDueMs === null ? null : Math.max(0, Math.round(row.oldestDueMs)),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

/** Returns the limits of a queue that is named for the first time. */
export type QueueDefaults = (name: string) => UpdateQueueBody

/** A queue that a request creates, or whose limits it changes: then `changedBy` is its caller. */
type PlannedQueue = { name: string; changedBy: Allowed<'queue.write'> | null; limits: UpdateQueueBody }

/**
 * Returns the queues that a request creates by naming them, and those whose limits it changes. Any caller may name a
 * queue with its current limits. Pinned limits stay as they are.
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
    await audit(tx, changedBy, 'queue.changed', name, limits)
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

function toLimits(body: UpdateQueueBody): Partial<QueueLimits> {
  const { max_concurrent: maxConcurrent, rate_limit: rate, ordered } = body
  return {
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(rate !== undefined && { rateLimit: rate && { count: rate.count, periodMs: rate.period_ms } }),
    ...(ordered !== undefined && { ordered }),
  }
}

const noLimits = { max_concurrent: null, rate_limit: null, ordered: false }

function presentLimits({ maxConcurrent, rateCount, ratePeriodMs, ordered }: StoredLimits) {
  const rate = rateCount === null || ratePeriodMs === null ? null : { count: rateCount, period_ms: ratePeriodMs }
  return { max_concurrent: maxConcurrent, rate_limit: rate, ordered }
}
