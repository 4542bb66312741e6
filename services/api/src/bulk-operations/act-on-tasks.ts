import { setTimeout as sleep } from 'node:timers/promises'
import type { EndTasksBody, SettleDeadLettersBody } from '@belfry/contract/bulk-operation'
import { operations } from '@belfry/contract/operations'
import type { Task } from '@belfry/contract/task'
import { type BulkRequest, isEnding } from '@belfry/db/bulk-operations/bulk-operations'
import {
  type SettleAction,
  type SettledDeadLetters,
  settleDeadLetters,
} from '@belfry/db/dead-letters/settle-dead-letters'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { advanceQueuesOf } from '@belfry/db/queues/advance-queues'
import { type EndAction, endTasks } from '@belfry/db/tasks/end-tasks'
import { countMatchingTasks, isIn } from '@belfry/db/tasks/task-filter'
import { isDeadLetter } from '@belfry/db/tasks/task-row'
import { taskStates } from '@belfry/domain/task-state'
import { presentTask } from '@belfry/present/present-task'
import type { TaskRow } from '@belfry/present/task-row'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { readBoundedPage } from '../http/bounded-page.ts'
import { accepted, Reply } from '../http/reply.ts'
import { scanTasks } from '../tasks/read-tasks.ts'
import { enqueue } from '../tasks/schedule.ts'
import {
  auditBulk,
  type BulkRight,
  presentDeadLetterOperation,
  presentTaskOperation,
  selectAtOnce,
  startOperation,
} from './bulk-operations.ts'

export const cancelTasks = endpoint(operations.cancelTasks, (ctx, { caller, body }) =>
  endMany(ctx, caller, 'cancel', body),
)

export const stopTasks = endpoint(operations.stopTasks, (ctx, { caller, body }) => endMany(ctx, caller, 'stop', body))

const maxCounted = 10_000

export const countTasks = endpoint(
  operations.countTasks,
  async (ctx, { caller, query: { state = [...taskStates], ...filter } }) => {
    const { workspaceId } = caller
    const found = await countMatchingTasks(ctx.pool, workspaceId, isIn(...state), filter, maxCounted)
    return { count: found.count, is_capped: found.isCapped }
  },
)

function endMany(ctx: Context, caller: Allowed<'task.delete'>, action: EndAction, body: EndTasksBody): Promise<Reply> {
  const wanted = { action, filter: body.filter ?? { ids: body.ids }, perSecond: null }
  return act(ctx, caller, wanted, ids => endDecided(ctx, caller, ids, action))
}

const countNames = { cancel: 'cancelled', stop: 'stopped', replay: 'replayed', discard: 'discarded' } as const

// Acts on some tasks at once, and on many or a slow filter as an operation.
async function act<A extends BulkRequest['action']>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  wanted: BulkRequest & { action: A },
  actAtOnce: (ids: readonly string[]) => Promise<number>,
): Promise<Reply> {
  const name = countNames[wanted.action]
  const ids = await selectAtOnce(ctx, caller.workspaceId, wanted)
  if (ids !== null) return new Reply({ status: 200, body: { [name]: await actAtOnce(ids), operation: null } })
  const started = await startOperation(ctx, caller, wanted)
  const ends = isEnding(wanted.action)
  const operation = ends ? presentTaskOperation(started) : presentDeadLetterOperation(started)
  const path = `/api/v1/scheduler/${ends ? 'tasks' : 'dead-letters'}/operations/${operation.id}`
  return accepted(path, { [name]: 0, operation })
}

const decisionMs = 15_000
const pauseMs = 25

/** Ends tasks, and returns how many. Repeats while some of the tasks are prefetched; see `untilDecided`. */
export async function endDecided(
  ctx: Context,
  caller: Allowed<'task.delete'>,
  ids: readonly string[],
  action: EndAction,
): Promise<number> {
  let total = 0
  for (const giveUpAt = performance.now() + decisionMs; ; await sleep(pauseMs)) {
    const { ended, undecided } = await inTransaction(ctx.pool, async tx => {
      const result = await endTasks(tx, caller.workspaceId, ids, action)
      if (result.ended > 0) await auditBulk(tx, caller, { action }, { count: result.ended })
      return result
    })
    total += ended
    if (ended > 0) await advanceQueuesOf(ctx.pool, ids)
    if (undecided.length === 0 || performance.now() > giveUpAt) return total
  }
}

export const listDeadLetters = endpoint(operations.listDeadLetters, async (ctx, { caller, query }) => {
  const scan = scanTasks(caller.workspaceId, { ...query, state: ['dead'] })
  scan.rest.and(isDeadLetter)
  return readBoundedPage<TaskRow, Task>(ctx, query, scan, `dead-letters:${caller.workspaceId}`, presentTask)
})

export const replayDeadLetters = endpoint(operations.replayDeadLetters, (ctx, { caller, body }) =>
  settle(ctx, caller, 'replay', body, body.per_second),
)

export const discardDeadLetters = endpoint(operations.discardDeadLetters, (ctx, { caller, body }) =>
  settle(ctx, caller, 'discard', body),
)

function settle<A extends SettleAction>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  action: A,
  body: SettleDeadLettersBody,
  perSecond: number | null = null,
): Promise<Reply> {
  const wanted = { action, filter: body.filter ?? { ids: body.ids }, perSecond }
  return act(ctx, caller, wanted, async ids => (await settleAtOnce(ctx, caller, wanted, ids)).deadLetters.length)
}

/** Settles dead letters, and records it in the audit log of the organization. */
export async function settleAtOnce<A extends SettleAction>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  wanted: BulkRequest & { action: A },
  ids: readonly string[],
): Promise<SettledDeadLetters> {
  const { action, perSecond } = wanted
  const settled = await inTransaction(ctx.pool, async tx => {
    const result = await settleDeadLetters(tx, caller.workspaceId, ids, action, { perSecond, from: null })
    const count = result.deadLetters.length
    if (count > 0) await auditBulk(tx, caller, wanted, { count })
    return result
  })
  enqueue(ctx, settled.replays, settled.now)
  return settled
}
