import { type TaskOperation, taskOperation } from '@belfry/contract/task-operation'
import { cancelTaskOperation, findTaskOperation, type TaskOperation as Row } from '@belfry/db/tasks/task-operations'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'

export const getTaskOperation = endpoint({
  right: 'task.read',
  summary: 'Get the progress of a cancel or a stop in the background',
  answer: { status: 200, body: taskOperation },
  params: { operation: 'op' },
  async handle(ctx, { caller, params }) {
    const operation = await findTaskOperation(ctx.pool, caller.workspaceId, params.operation)
    if (!operation) throw notFound()
    return ok(presentTaskOperation(operation))
  },
})

export const endTaskOperation = endpoint({
  right: 'task.delete',
  summary: 'Cancel a cancel or a stop in the background; what it has done stays done',
  answer: { status: 200, body: taskOperation },
  refusals: ['conflict'],
  params: { operation: 'op' },
  async handle(ctx, { caller: { workspaceId }, params }) {
    const isCancelled = await cancelTaskOperation(ctx.pool, workspaceId, params.operation)
    const operation = await findTaskOperation(ctx.pool, workspaceId, params.operation)
    if (!operation) throw notFound()
    if (!isCancelled) throw new AppError('conflict', 'The operation has already ended.')
    return ok(presentTaskOperation(operation))
  },
})

/** Returns the public form of an operation. */
export function presentTaskOperation(row: Row): TaskOperation {
  const { filter } = row
  return {
    id: toId('op', row.id),
    workspace_id: toId('ws', row.workspaceId),
    action: row.action,
    filter: {
      source: filter.sources ? [...filter.sources] : null,
      cronjob_id: filter.cronJobIds?.map(id => toId('cron', id)) ?? null,
      event_id: filter.eventIds?.map(id => toId('evt', id)) ?? null,
      topic: filter.topics ? [...filter.topics] : null,
      callback_of: filter.callbacksOf?.map(id => toId('task', id)) ?? null,
      queue: filter.queues ? [...filter.queues] : null,
      label: filter.labels ? [...filter.labels] : null,
      name: filter.name,
      from: filter.executeFrom?.toISOString() ?? null,
      to: filter.executeTo?.toISOString() ?? null,
    },
    status: statusOf(row),
    total: row.total,
    ended: row.ended,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

function statusOf({ cancelled, finishedAt }: Row): TaskOperation['status'] {
  if (cancelled) return 'cancelled'
  return finishedAt === null ? 'running' : 'done'
}
