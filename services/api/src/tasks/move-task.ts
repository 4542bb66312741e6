import { operations } from '@belfry/contract/operations'
import type { UpdateTaskBody } from '@belfry/contract/task'
import { type Db, inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { advanceQueues, advanceQueuesOf, queuesOf } from '@belfry/db/queues/advance-queues'
import {
  changePendingTask,
  endTask,
  type MoveResult,
  type TaskChange,
  untilDecided,
} from '@belfry/db/tasks/change-task'
import type { EndAction } from '@belfry/db/tasks/end-tasks'
import { replayTask as replay } from '@belfry/db/tasks/replay-task'
import { AppError, type AppErrorCode, notFound } from '@belfry/domain/app-error'
import type { AuditAction } from '@belfry/domain/audit-action'
import { toId } from '@belfry/domain/id'
import { presentTask } from '@belfry/present/present-task'
import type { TaskRow } from '@belfry/present/task-row'
import { type Auditor, audit } from '../audit/audit.ts'
import { authorOf, requireReader } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { creation, endpoint } from '../endpoint.ts'
import { given, isEmpty } from '../http/given.ts'
import { created } from '../http/response.ts'
import { nameQueues, planQueues } from '../queues/queues.ts'
import { readQuota, refuseLargePayload } from '../quotas/quotas.ts'
import { requireSecretUse } from '../secrets/require-secret-use.ts'
import { executeAtPassed, inspectTask, neverStarts, toRequestChange, withLocalTime } from './new-task.ts'
import { findTask, readTask } from './read-tasks.ts'
import { enqueue, type Origin, schedule } from './schedule.ts'

type Refusal = { code: AppErrorCode; only: string }

const notPending: Refusal = { code: 'task_not_pending', only: 'only a pending task can be changed or cancelled' }
const notRetrying: Refusal = { code: 'task_not_retrying', only: 'only a task that waits for a retry can be stopped' }

export const cancelTask = ending(operations.cancelTask, 'task.cancelled', 'cancel', notPending)

export const stopTask = ending(operations.stopTask, 'task.stopped', 'stop', notRetrying)

function ending(
  operation: typeof operations.cancelTask | typeof operations.stopTask,
  action: 'task.cancelled' | 'task.stopped',
  end: EndAction,
  refusal: Refusal,
) {
  return endpoint(operation, async (ctx, { caller, params: { task: id } }) => {
    const result = await moveTask(ctx, caller, id, { action }, tx => endTask(tx, caller.workspaceId, id, end))
    if (result.kind === 'moved') await advanceQueuesOf(ctx.pool, [id])
    return presentTask(await taskAfterMove(ctx, result, caller.workspaceId, id, refusal))
  })
}

export const replayTask = creation(operations.replayTask, {
  inspect: inspectTask,
  async handle(work, input) {
    const { params, caller, body, bodyText, arrivedAt } = input
    const change = toChange(body, bodyText)
    const origin: Origin = {}
    requireReader(caller, 'task.read', change)
    await requireSecretUse(work.db, caller, [change], () => findTask(work.db, caller.workspaceId, params.task))
    const { row } = await schedule(work, input, {
      starts: 'later',
      rows: [origin],
      payload: change.payload ?? null,
      queues: [body.queue],
      async store({ db, logStorage }) {
        const store = async (db: Db) => {
          const result = await replay(db, caller.workspaceId, params.task, origin)
          if (result.kind === 'refused' && result.state !== null) {
            const message = `The task is ${result.state}; only a finished task can be replayed.`
            throw new AppError('task_not_finished', message, { extra: { current_state: result.state } })
          }
          if (result.kind === 'refused') throw logStorage === null ? notFound() : new AppError('not_found', moved)
          if (!isEmpty(change)) await changeReplay(db, caller.workspaceId, result.id, change, arrivedAt)
          const row = await findTask(db, caller.workspaceId, result.id)
          if (!row) throw notFound()
          const due = { id: result.id, dueAt: change.executeAt ?? result.dueAt }
          return { row, due: [due], now: result.now }
        }
        return isEmpty(change) ? store(db) : inTransaction(db, store)
      },
    })
    return created('/api/v1/scheduler/tasks', withLocalTime(presentTask(row), body.timezone))
  },
})

// The copy is not committed yet, so dispatchers cannot claim it meanwhile.
async function changeReplay(db: Db, workspaceId: string, id: string, change: AskedChange, arrivedAt: number) {
  if (change.callbacks !== undefined) await refuseForCallback(db, workspaceId, id)
  refuseTimes(await changePendingTask(db, workspaceId, id, change), change, arrivedAt)
}

export const updateTask = endpoint(operations.updateTask, {
  inspect: inspectTask,
  async handle(ctx, { caller, params, body, bodyText, arrivedAt }) {
    const change = toChange(body, bodyText)
    if (isEmpty(change)) return readTask(ctx, caller, params.task)
    requireReader(caller, 'task.read', change)
    await requireSecretUse(ctx.pool, caller, [change], () => findTask(ctx.pool, caller.workspaceId, params.task))
    refuseLargePayload(await readQuota(ctx, caller.organizationId), change.payload)
    if (change.callbacks !== undefined) await refuseForCallback(ctx.pool, caller.workspaceId, params.task)
    const changed = { ...change, updatedBy: authorOf(caller) }
    // A URL or a header may hold a secret, so the record has the names of the fields and not their values.
    const audited = { action: 'task.changed', details: { fields: Object.keys(body).sort() } } as const
    let left: string[] = []
    const result = await moveTask(ctx, caller, params.task, audited, async tx => {
      left = await queuesOf(tx, [params.task])
      await nameQueues(tx, caller, await planQueues(tx, caller, [body.queue]))
      return changePendingTask(tx, caller.workspaceId, params.task, changed)
    })
    const move = refuseTimes(result, change, arrivedAt)
    if (move.kind === 'moved') await advanceQueues(ctx.pool, left) // it may have been the next one
    const row = await taskAfterMove(ctx, move, caller.workspaceId, params.task)
    if (change.executeAt && move.kind === 'moved') {
      enqueue(ctx, [{ id: row.id, dueAt: change.executeAt }], move.now)
    }
    return withLocalTime(presentTask(row), body.timezone)
  },
})

type AskedChange = TaskChange & { executeAt?: Date }

function toChange(body: UpdateTaskBody, bodyText: string): AskedChange {
  return given({
    executeAt: body.execute_at,
    name: body.name,
    expiresAt: body.expires_at,
    labels: body.labels,
    ...toRequestChange(body, bodyText),
  })
}

function refuseTimes<Result extends { kind: string }>(result: Result, change: AskedChange, arrivedAt: number) {
  if (result.kind === 'not_future') throw executeAtPassed(change.executeAt ?? null, arrivedAt)
  if (result.kind === 'never_starts') throw neverStarts()
  return result as Exclude<Result, { kind: 'not_future' | 'never_starts' }> // the two others are left
}

const moved = 'No such task. If it is in object storage, it can be replayed after an operator has restored its day.'

/** Moves a task in a transaction with its audit entry. A task that does not move undoes everything. */
function moveTask<Result extends { kind: string; isUnsent?: boolean }, A extends AuditAction>(
  ctx: Context,
  caller: Auditor<A>,
  id: string,
  { action, details }: { action: A; details?: Readonly<Record<string, unknown>> },
  move: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return untilDecided(async () => {
    let result: Result | undefined
    const run = async (tx: Transaction) => {
      result = await move(tx)
      if (result.kind !== 'moved') throw notMoved
      await audit(tx, caller, action, toId('task', id), details)
      return result
    }
    return inTransaction(ctx.pool, run).catch((error: unknown) => {
      if (error === notMoved && result) return result
      throw error
    })
  })
}

const notMoved = new Error('The task has not moved.')

// The source of a task never changes.
async function refuseForCallback(db: Db, workspaceId: string, taskId: string): Promise<void> {
  const row = await findTask(db, workspaceId, taskId)
  if (row?.source === 'callback') throw new AppError('conflict', 'A callback cannot have callbacks of its own.')
}

/** Returns the task after a change. Throws the reason when the task could not be changed. */
async function taskAfterMove(
  ctx: Context,
  result: MoveResult,
  workspaceId: string,
  taskId: string,
  { code, only }: Refusal = notPending,
): Promise<TaskRow> {
  if (result.kind === 'refused' && result.state !== null) {
    throw new AppError(code, `The task is ${result.state}; ${only}.`, { extra: { current_state: result.state } })
  }
  const row = result.kind === 'moved' ? await findTask(ctx.pool, workspaceId, taskId) : undefined
  if (!row) throw notFound()
  return row
}
