import { task, updateTaskBody } from '@belfry/contract/task'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { advanceQueuesOf } from '@belfry/db/queues/advance-queues'
import {
  cancelPendingTask,
  changePendingTask,
  type MoveResult,
  stopRetryingTask,
  type TaskChange,
  untilDecided,
} from '@belfry/db/tasks/change-task'
import { replayTask as replay } from '@belfry/db/tasks/replay-task'
import { AppError, type AppErrorCode } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { audit } from '../audit/audit.ts'
import type { Context } from '../context.ts'
import { creation, endpoint } from '../endpoint.ts'
import { given, isEmpty } from '../http/given.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { notFound } from '../http/refusals.ts'
import { created, ok } from '../http/reply.ts'
import { openQueue } from '../queues/name-queue.ts'
import { withinLimit } from '../quotas/headroom.ts'
import { readQuota, refuseLargePayload, refuseOverQuota, spendChained } from '../quotas/quotas.ts'
import { enqueue, hideDeadLetters } from './enqueue.ts'
import { executeAtPassed, inspectControls, inspectExecuteAt, neverStarts } from './new-task.ts'
import { presentTask } from './present-task.ts'
import { readTask } from './read-tasks.ts'
import { authorOf, originOf } from './record-origin.ts'
import { inspectCallbacks, toRequestChange } from './stored-request.ts'
import { findTask, type TaskRow } from './task-row.ts'

export const cancelTask = endpoint({
  right: 'task.delete',
  summary: 'Cancel a pending task',
  answer: { status: 200, body: task },
  refusals: ['task_not_pending'],
  params: { task: 'task' },
  async handle(ctx, { caller, params }) {
    const objectId = toId('task', params.task)
    const cancel = () =>
      inTransaction(ctx.pool, async tx => {
        const moved = await cancelPendingTask(tx, caller.workspaceId, params.task)
        if (moved.kind === 'moved') await audit(tx, caller, { action: 'task.cancelled', objectId })
        return moved
      })
    const result = await untilDecided(cancel)
    if (result.kind === 'moved') await advanceQueuesOf(ctx.pool, [params.task])
    return ok(presentTask(await taskAfterMove(ctx, result, caller.workspaceId, params.task)))
  },
})

export const stopTask = endpoint({
  right: 'task.delete',
  summary: 'Stop a task that waits for a retry: it is dead',
  answer: { status: 200, body: task },
  refusals: ['task_not_retrying'],
  params: { task: 'task' },
  async handle(ctx, { caller, params }) {
    const objectId = toId('task', params.task)
    const stop = () =>
      inTransaction(ctx.pool, async tx => {
        const moved = await stopRetryingTask(tx, caller.workspaceId, params.task)
        if (moved.kind === 'moved') await audit(tx, caller, { action: 'task.stopped', objectId })
        return moved
      })
    const result = await untilDecided(stop)
    if (result.kind === 'moved') await advanceQueuesOf(ctx.pool, [params.task])
    const row = await taskAfterMove(ctx, result, caller.workspaceId, params.task, notRetrying)
    return ok(presentTask(row))
  },
})

export const replayTask = creation({
  right: 'task.write',
  summary: 'Replay a finished task, as a new task that is due at once',
  answer: { status: 201, body: task },
  refusals: ['task_not_finished', 'quota_exceeded'],
  params: { task: 'task' },
  async handle(work, { caller, params, request }) {
    const { workspaceId } = caller
    const origin = originOf(work, { caller, request })
    const quota = await readQuota(work, caller.organizationId)
    refuseOverQuota(quota, 'later')
    await spendChained(work.db, quota, { organizationId: caller.organizationId, tasks: [origin] })
    const one = { workspaceId, objects: 'pendingTasks', wanted: 1 } as const
    const result = await withinLimit(work, quota, one, ({ db }) => replay(db, workspaceId, params.task, origin))
    if (result.kind === 'refused' && result.state !== null) {
      const message = `The task is ${result.state}; only a finished task can be replayed.`
      throw new AppError('task_not_finished', message, { extra: { current_state: result.state } })
    }
    const row = result.kind === 'replayed' ? await findTask(work.db, workspaceId, result.id) : undefined
    if (result.kind === 'refused' || !row)
      throw work.logStorage === null ? notFound() : new AppError('not_found', moved)
    const presented = presentTask(row)
    work.afterCommit(ctx => {
      enqueue(ctx, [result], result.now)
      hideDeadLetters(ctx, [toId('task', params.task)])
    })
    return created(`/api/v1/scheduler/tasks/${presented.id}`, presented)
  },
})

export const updateTask = endpoint({
  right: 'task.write',
  summary: 'Change a pending task',
  answer: { status: 200, body: task },
  refusals: ['task_not_pending', 'quota_exceeded', 'conflict'],
  params: { task: 'task' },
  body: updateTaskBody,
  inspect: (ctx, body, errors) => [
    ...inspectTarget(ctx, body),
    ...inspectCallbacks(ctx, body),
    ...inspectExecuteAt(ctx, body, errors),
    ...inspectControls(body),
  ],
  async handle(ctx, { caller, params, body, bodyText, arrivedAt }) {
    const change: TaskChange = given({
      executeAt: body.execute_at,
      name: body.name,
      expiresAt: body.expires_at,
      labels: body.labels,
      ...toRequestChange(body, bodyText),
    })
    if (isEmpty(change)) return ok(await readTask(ctx, caller.workspaceId, params.task))
    refuseLargePayload(await readQuota(ctx, caller.organizationId), change.payload)
    await openQueue(ctx.pool, caller.workspaceId, body.queue)
    if (change.callbacks !== undefined) await refuseForCallback(ctx, caller.workspaceId, params.task)
    const changed = { ...change, updatedBy: authorOf(caller) }
    const result = await untilDecided(() =>
      inTransaction(ctx.pool, async tx => {
        const moved = await changePendingTask(tx, caller.workspaceId, params.task, changed)
        const audited = { action: 'task.changed', objectId: toId('task', params.task) } as const
        // A URL or a header may hold a secret, so the record has the names of the fields and not their values.
        if (moved.kind === 'moved') await audit(tx, caller, { ...audited, details: { fields: Object.keys(body) } })
        return moved
      }),
    )
    if (result.kind === 'not_future') throw executeAtPassed(change.executeAt ?? null, arrivedAt)
    if (result.kind === 'never_starts') throw neverStarts()
    const row = await taskAfterMove(ctx, result, caller.workspaceId, params.task)
    if (change.executeAt && result.kind === 'moved') {
      enqueue(ctx, [{ id: row.id, dueAt: change.executeAt }], result.now)
    }
    return ok(presentTask(row))
  },
})

const moved = 'No such task. If it is in object storage, it can be replayed after an operator has restored its day.'

// The source of a task never changes.
async function refuseForCallback(ctx: Context, workspaceId: string, taskId: string): Promise<void> {
  const row = await findTask(ctx.pool, workspaceId, taskId)
  if (row?.source === 'callback') throw new AppError('conflict', 'A callback cannot have callbacks of its own.')
}
type Refusal = { code: AppErrorCode; only: string }

const notPending: Refusal = { code: 'task_not_pending', only: 'only a pending task can be changed or cancelled' }
const notRetrying: Refusal = { code: 'task_not_retrying', only: 'only a task that waits for a retry can be stopped' }

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
