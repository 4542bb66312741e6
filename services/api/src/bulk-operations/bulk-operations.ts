import { isDeepStrictEqual } from 'node:util'
import { rightToRead } from '@belfry/contract/brief-forms'
import {
  bulkActions,
  type DeadLetterOperation,
  type EndTasksBody,
  type BulkOperation as PublicOperation,
  type SettleDeadLettersBody,
  type TaskOperation,
} from '@belfry/contract/bulk-operation'
import type { Operation } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import type { RunErrorCode } from '@belfry/contract/run'
import type { Task } from '@belfry/contract/task'
import {
  type BulkOperation,
  type BulkRequest,
  cancelBulkOperation,
  findBulkOperation,
  isEnding,
  isPrefetched,
  listBulkOperations as listStored,
  openTo,
  startBulkOperation as storeOperation,
} from '@belfry/db/bulk-operations/bulk-operations'
import { type SettleAction, settleDeadLetters } from '@belfry/db/dead-letters/settle-dead-letters'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { advanceQueuesOf } from '@belfry/db/queues/advance-queues'
import { untilDecided } from '@belfry/db/tasks/change-task'
import { type EndAction, endTasks } from '@belfry/db/tasks/end-tasks'
import { countMatchingTasks, findMatchingTasks, isIn } from '@belfry/db/tasks/task-filter'
import { isDeadLetter } from '@belfry/db/tasks/task-row'
import { AppError, notFound } from '@belfry/domain/app-error'
import { auditRights } from '@belfry/domain/audit-action'
import { type IdKind, toId } from '@belfry/domain/id'
import { type ActionIn, decide } from '@belfry/domain/permissions'
import { taskStates } from '@belfry/domain/task-state'
import { presentTask } from '@belfry/present/present-task'
import type { TaskRow } from '@belfry/present/task-row'
import type { z } from 'zod'
import { audit } from '../audit/audit.ts'
import { type Allowed, requireRight } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { readBoundedPage } from '../http/bounded-page.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { ApiResponse, accepted } from '../http/response.ts'
import { chargeFanOut, readQuota } from '../quotas/quotas.ts'
import { scanTasks } from '../tasks/read-tasks.ts'
import { depthOf, enqueue } from '../tasks/schedule.ts'

type Action = BulkOperation['action']

/** What an answer calls the number of tasks. */
const countNames = { cancel: 'cancelled', stop: 'stopped', replay: 'replayed', discard: 'discarded' } as const

const auditActions = {
  cancel: 'task.bulk_cancelled',
  stop: 'task.bulk_stopped',
  replay: 'dead_letter.replayed',
  discard: 'dead_letter.discarded',
} as const

export const cancelTasks = endpoint(operations.cancelTasks, (ctx, { caller, body }) =>
  endMany(ctx, caller, 'cancel', body),
)

export const stopTasks = endpoint(operations.stopTasks, (ctx, { caller, body }) => endMany(ctx, caller, 'stop', body))

const maxCounted = 10_000

export const countTasks = endpoint(operations.countTasks, async (ctx, { caller, query }) => {
  const { state = [...taskStates], ...filter } = query
  const found = await countMatchingTasks(ctx.pool, caller.workspaceId, isIn(...state), filter, maxCounted)
  return { count: found.count, is_capped: found.isCapped }
})

function endMany(ctx: Context, caller: Allowed<'task.delete'>, action: EndAction, body: EndTasksBody) {
  const wanted = { action, filter: body.filter ?? { ids: body.ids }, perSecond: null }
  return act(ctx, caller, wanted, ids => endDecided(ctx, caller, ids, action))
}

// Acts on some tasks at once, and on many or a slow filter as an operation.
async function act<A extends BulkRequest['action']>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  wanted: BulkRequest & { action: A },
  actAtOnce: (ids: readonly string[]) => Promise<number>,
): Promise<ApiResponse> {
  const name = countNames[wanted.action]
  const ids = await selectAtOnce(ctx, caller.workspaceId, wanted)
  if (ids !== null) return new ApiResponse({ status: 200, body: { [name]: await actAtOnce(ids), operation: null } })
  const started = await startOperation(ctx, caller, wanted)
  const ends = isEnding(wanted.action)
  const operation = ends ? presentTaskOperation(started) : presentDeadLetterOperation(started)
  const path = `/api/v1/scheduler/${ends ? 'tasks' : 'dead-letters'}/operations/${operation.id}`
  return accepted(path, { [name]: 0, operation })
}

/** Ends tasks, and returns how many. Repeats while some of the tasks are prefetched; see `untilDecided`. */
export async function endDecided(
  ctx: Context,
  caller: Allowed<'task.delete'>,
  ids: readonly string[],
  action: EndAction,
): Promise<number> {
  let total = 0
  await untilDecided(async () => {
    const { ended, undecided } = await inTransaction(ctx.pool, async tx => {
      const result = await endTasks(tx, caller.workspaceId, ids, action)
      if (result.ended > 0) await auditBulk(tx, caller, { action }, { count: result.ended })
      return result
    })
    total += ended
    if (ended > 0) await advanceQueuesOf(ctx.pool, ids)
    return { isUnsent: undecided.length > 0 }
  })
  return total
}

export const listDeadLetters = endpoint(operations.listDeadLetters, async (ctx, { caller, query }) => {
  const scan = scanTasks(caller.workspaceId, { ...query, state: ['dead'] })
  scan.rest.and(isDeadLetter)
  return readBoundedPage<TaskRow, Task>(ctx, query, scan, `dead-letters:${caller.workspaceId}`, presentTask)
})

export const replayDeadLetters = endpoint(operations.replayDeadLetters, async (ctx, { caller, body, request }) => {
  const depth = depthOf(ctx, request)
  if (depth !== null && body.ids === undefined) throw onlyByIds()
  return settle(ctx, caller, 'replay', body, depth)
})

// What runs in the background does not belong to a call.
function onlyByIds(): AppError {
  return new AppError('loop_detected', 'A target that Belfry calls may replay dead letters at once, by their ids.')
}

export const discardDeadLetters = endpoint(operations.discardDeadLetters, (ctx, { caller, body }) =>
  settle(ctx, caller, 'discard', body),
)

function settle<A extends SettleAction>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  action: A,
  body: SettleDeadLettersBody & { per_second?: number | undefined },
  depth: number | null = null,
): Promise<ApiResponse> {
  const wanted = { action, filter: body.filter ?? { ids: body.ids }, perSecond: body.per_second ?? null }
  return act(ctx, caller, wanted, async ids => (await settleAtOnce(ctx, caller, wanted, ids, depth)).deadLetters.length)
}

/**
 * Settles dead letters, and records it in the audit log of the organization.
 * @param depth - After how many calls of Belfry in a row, or null.
 */
export async function settleAtOnce<A extends SettleAction>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  wanted: BulkRequest & { action: A },
  ids: readonly string[],
  depth: number | null,
) {
  const { action, perSecond } = wanted
  const quota = depth === null ? null : await readQuota(ctx, caller.organizationId)
  const settled = await inTransaction(ctx.pool, async tx => {
    const result = await settleDeadLetters(tx, caller.workspaceId, ids, action, { perSecond, from: null, depth })
    const count = result.deadLetters.length
    if (quota && count > 0) await chargeFanOut(tx, quota, caller.organizationId, count)
    if (count > 0) await auditBulk(tx, caller, wanted, { count })
    return result
  })
  enqueue(ctx, settled.replays, settled.now)
  return settled
}

export const startBulkOperation = endpoint(operations.startBulkOperation, async (ctx, { caller, body, request }) => {
  const { action, ids, filter = { ids }, per_second: perSecond = null } = body
  const allowed = requireRight(caller, auditRights[auditActions[action]])
  if (action === 'replay' && depthOf(ctx, request) !== null) throw onlyByIds()
  const operation = presentOperation(await startOperation(ctx, allowed, { action, filter, perSecond }))
  return accepted(`/api/v1/scheduler/bulk-operations/${operation.id}`, operation)
})

export const listBulkOperations = endpoint(operations.listBulkOperations, async (ctx, { caller, query }) => {
  const { workspaceId, actor } = caller
  const readable = bulkActions.filter(action => decide(actor, rightToRead({ action })).allowed)
  const find = ({ after, take }: PageRows) => listStored(ctx.pool, workspaceId, readable, { after, limit: take })
  return readPage(`bulk-operations:${workspaceId}`, query, find, presentOperation)
})

type Form = { actions: readonly Action[]; present(operation: BulkOperation): unknown }

const general: Form = { actions: bulkActions, present: presentOperation }
// The older names of the same endpoints keep their older response forms.
const ofTasks: Form = { actions: ['cancel', 'stop'], present: presentTaskOperation }
const ofDeadLetters: Form = { actions: ['replay', 'discard'], present: presentDeadLetterOperation }

export const getBulkOperation = onOperation(operations.getBulkOperation, general, read)
export const getTaskOperation = onOperation(operations.getTaskOperation, ofTasks, read)
export const getDeadLetterOperation = onOperation(operations.getDeadLetterOperation, ofDeadLetters, read)

export const cancelOperation = onOperation(operations.cancelOperation, general, cancel)
export const endTaskOperation = onOperation(operations.endTaskOperation, ofTasks, cancel)
export const cancelDeadLetterOperation = onOperation(operations.cancelDeadLetterOperation, ofDeadLetters, cancel)

function onOperation(
  operation: Operation & {
    path: `${string}/:operation` | `${string}/:operation/${string}`
    right: ActionIn<'workspace'>
    response: { status: 200; body: z.ZodType }
  },
  { actions, present }: Form,
  act: (ctx: Context, caller: Allowed, found: BulkOperation) => BulkOperation | Promise<BulkOperation>,
) {
  return endpoint(operation, async (ctx, { caller, params }) => {
    const found = await findBulkOperation(ctx.pool, caller.workspaceId, params.operation)
    if (!found || !actions.includes(found.action)) throw notFound()
    return present(await act(ctx, caller, found))
  })
}

function read(_: Context, caller: Allowed, found: BulkOperation): BulkOperation {
  requireRight(caller, rightToRead(found))
  return found
}

async function cancel(ctx: Context, caller: Allowed, { id, action }: BulkOperation): Promise<BulkOperation> {
  requireRight(caller, isEnding(action) ? 'task.delete' : 'dead_letter.replay')
  const cancelled = await cancelBulkOperation(ctx.pool, caller.workspaceId, id)
  if (!cancelled) throw new AppError('conflict', 'The operation has already ended.')
  return cancelled
}

// More than this the scheduler does in the background, as an operation. So it does when the filter is too slow for a request.
const maxAtOnce = 1_000

/** Returns the tasks that a filter selects for an action; null when an operation has to find them. */
async function selectAtOnce({ pool }: Context, workspaceId: string, { action, filter }: BulkRequest) {
  if (filter.ids) return filter.ids
  const also = isEnding(action) ? isPrefetched : 'false'
  const open = openTo(action)
  const { ids, isComplete } = await findMatchingTasks(pool, workspaceId, open, filter, maxAtOnce + 1, { also })
  return isComplete ? ids : null
}

/** Starts an operation, or returns the running one when it is the same. Refuses while another one of its kind is running. */
async function startOperation<A extends Action>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  wanted: BulkRequest & { action: A },
): Promise<BulkOperation> {
  const operation = await inTransaction(ctx.pool, async tx => {
    const { isNew, ...started } = await storeOperation(tx, caller.workspaceId, wanted)
    const details = { operation: toId('op', started.id), count: started.total }
    if (isNew) await auditBulk(tx, caller, wanted, details)
    return started
  })
  const filter: unknown = JSON.parse(JSON.stringify(wanted.filter)) // as it is stored
  const { action, perSecond } = operation
  if (isDeepStrictEqual({ action, perSecond, filter: operation.filter }, { ...wanted, filter })) return operation
  const other = toId('op', operation.id)
  throw new AppError('conflict', `The workspace has ${other} in progress. Wait until it is done, or cancel it.`)
}

export type BulkRight<A extends Action> = (typeof auditRights)[(typeof auditActions)[A]]

/** Records in the audit log what happens to many tasks, with the filter that has selected them. */
function auditBulk<A extends Action>(
  tx: Transaction,
  caller: Allowed<BulkRight<A>>,
  { action, filter = {} }: { action: A; filter?: BulkRequest['filter'] },
  details: Record<string, unknown>,
): Promise<void> {
  const given = Object.entries(presentFilter(filter)).filter(([, value]) => value !== null)
  const selected = given.length > 0 ? { filter: Object.fromEntries(given) } : {}
  return audit(tx, caller, auditActions[action], toId('ws', caller.workspaceId), { ...details, ...selected })
}

function presentOperation(row: BulkOperation): PublicOperation {
  const { action, filter, perSecond: per_second, done } = row
  return {
    ...presentProgress(row),
    action,
    ids: idsOf('task', filter.ids),
    filter: presentFilter(filter),
    per_second,
    done,
  }
}

function presentTaskOperation(row: BulkOperation): TaskOperation {
  const { error: _, response_status: __, state_reason: ___, ...filter } = presentFilter(row.filter)
  const action = row.action as TaskOperation['action'] // the caller has asked for this kind
  return { ...presentProgress(row), action, filter, ended: row.done }
}

/** Returns the form of a replay or a discard, whose filter has one value where others have a list. */
function presentDeadLetterOperation(row: BulkOperation): DeadLetterOperation {
  const { cronjob_id, topic, label, from, to, name, host, error, response_status } = presentFilter(row.filter)
  const sameForm = { from, to, name, host, error, response_status }
  return {
    ...presentProgress(row),
    action: row.action as DeadLetterOperation['action'], // the caller has asked for this kind
    filter: { ...sameForm, cronjob_id: only(cronjob_id), topic: only(topic), label: only(label) },
    per_second: row.perSecond,
    settled: row.done,
  }
}

function presentProgress(row: BulkOperation) {
  const status: TaskOperation['status'] = row.cancelled ? 'cancelled' : row.finishedAt === null ? 'running' : 'done'
  return {
    id: toId('op', row.id),
    workspace_id: toId('ws', row.workspaceId),
    status,
    total: row.total,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

/** Returns the public form of a filter, without its ids. */
function presentFilter(filter: BulkRequest['filter']) {
  return {
    state_reason: filter.state_reason ?? null,
    source: filter.source ?? null,
    cronjob_id: idsOf('cron', filter.cronjob_id),
    event_id: idsOf('evt', filter.event_id),
    topic: filter.topic ?? null,
    label: filter.label ?? null,
    queue: filter.queue ?? null,
    callback_of: idsOf('task', filter.callback_of),
    name: filter.name ?? null,
    from: timeOf(filter.from),
    to: timeOf(filter.to),
    upcoming: filter.upcoming ?? null,
    host: filter.host ?? null,
    error: (filter.error ?? null) as RunErrorCode[] | null, // checked when the operation was started
    response_status: filter.response_status ?? null,
  }
}

function idsOf(kind: IdKind, uuids: string[] | undefined): string[] | null {
  return uuids?.map(uuid => toId(kind, uuid)) ?? null
}

function timeOf(time: Date | string | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString()
}

function only(values: string[] | null): string | null {
  return values?.length === 1 ? (values[0] ?? null) : null
}
