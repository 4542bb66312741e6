import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import {
  cancelledTasks,
  countTasksQuery,
  type EndTasksBody,
  endTasksBody,
  stoppedTasks,
  taskCount,
} from '@belfry/contract/task-operation'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { advanceQueuesOf } from '@belfry/db/queues/advance-queues'
import { type EndAction, endedState, endTasks } from '@belfry/db/tasks/end-tasks'
import { countMatchingTasks, findMatchingTasks, type TaskFilter } from '@belfry/db/tasks/task-filter'
import { startTaskOperation } from '@belfry/db/tasks/task-operations'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { taskStates } from '@belfry/domain/task-state'
import { audit } from '../audit/audit.ts'
import type { WorkspaceCaller } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { accepted, ok, type Reply } from '../http/reply.ts'
import { presentTaskOperation } from './task-operations.ts'

export const cancelTasks = endpoint({
  right: 'task.delete',
  summary: 'Cancel pending tasks, by id or by filter',
  answer: { status: 200, orStatus: 202, body: cancelledTasks },
  refusals: ['conflict'],
  body: endTasksBody,
  handle: (ctx, { caller, body }) => endMany(ctx, caller, 'cancel', body),
})

export const stopTasks = endpoint({
  right: 'task.delete',
  summary: 'Stop tasks that wait for a retry, by id or by filter: they are dead',
  answer: { status: 200, orStatus: 202, body: stoppedTasks },
  refusals: ['conflict'],
  body: endTasksBody,
  handle: (ctx, { caller, body }) => endMany(ctx, caller, 'stop', body),
})

const maxCounted = 10_000

export const countTasks = endpoint({
  right: 'task.read',
  summary: 'Count tasks, up to 10,000',
  answer: { status: 200, body: taskCount },
  query: countTasksQuery,
  async handle(ctx, { caller, query: { state = [...taskStates], ...filter } }) {
    const { workspaceId } = caller
    const found = await countMatchingTasks(ctx.pool, workspaceId, state, toTaskFilter(filter), maxCounted)
    return ok({ count: found.count, is_capped: found.isCapped })
  },
})

// More than this the scheduler does in the background, as an operation. So it does when the filter is too slow for a request.
const maxAtOnce = 1_000

const countName = { cancel: 'cancelled', stop: 'stopped' } as const

async function endMany(ctx: Context, caller: WorkspaceCaller, action: EndAction, body: EndTasksBody): Promise<Reply> {
  const { workspaceId } = caller
  const filter = toTaskFilter(body.filter ?? {})
  const { ids, isComplete } = body.ids
    ? { ids: body.ids, isComplete: true }
    : await findMatchingTasks(ctx.pool, workspaceId, endedState[action], filter, maxAtOnce + 1)
  if (!isComplete) return startOperation(ctx, caller, action, filter)
  return ok({ [countName[action]]: await endDecided(ctx, caller, ids, action), operation: null })
}

const decisionMs = 15_000
const pauseMs = 25

/** Ends tasks, and returns how many. Repeats while some of the tasks are prefetched; see `untilDecided`. */
export async function endDecided(
  ctx: Context,
  caller: WorkspaceCaller,
  ids: readonly string[],
  action: EndAction,
): Promise<number> {
  let total = 0
  for (const giveUpAt = performance.now() + decisionMs; ; await sleep(pauseMs)) {
    const { ended, undecided } = await inTransaction(ctx.pool, async tx => {
      const result = await endTasks(tx, caller.workspaceId, ids, action)
      if (result.ended > 0) await auditMany(tx, caller, action, { count: result.ended })
      return result
    })
    total += ended
    if (ended > 0) await advanceQueuesOf(ctx.pool, ids)
    if (undecided === 0 || performance.now() > giveUpAt) return total
  }
}

async function startOperation(ctx: Context, caller: WorkspaceCaller, action: EndAction, filter: TaskFilter) {
  const operation = await inTransaction(ctx.pool, async tx => {
    const { isNew, ...started } = await startTaskOperation(tx, caller.workspaceId, action, filter)
    const details = { operation: toId('op', started.id), count: started.total }
    if (isNew) await auditMany(tx, caller, action, details)
    return started
  })
  const presented = presentTaskOperation(operation)
  if (operation.action !== action || !isDeepStrictEqual(operation.filter, filter)) {
    throw new AppError(
      'conflict',
      `The workspace has ${presented.id} in progress. Wait until it is done, or cancel it.`,
    )
  }
  const headers = { Location: `/api/v1/scheduler/tasks/operations/${presented.id}` }
  return accepted({ [countName[action]]: 0, operation: presented }, headers)
}

function auditMany(tx: Transaction, caller: WorkspaceCaller, action: EndAction, details: Record<string, unknown>) {
  const objectId = toId('ws', caller.workspaceId)
  return audit(tx, caller, { action: `task.bulk_${countName[action]}`, objectId, details })
}

function toTaskFilter(filter: NonNullable<EndTasksBody['filter']>): TaskFilter {
  return {
    sources: filter.source ?? null,
    cronJobIds: filter.cronjob_id ?? null,
    eventIds: filter.event_id ?? null,
    topics: filter.topic ?? null,
    labels: filter.label ?? null,
    queues: filter.queue ?? null,
    callbacksOf: filter.callback_of ?? null,
    name: filter.name ?? null,
    executeFrom: filter.from ?? null,
    executeTo: filter.to ?? null,
  }
}
