import { deadLetterOperation, taskOperation } from '@belfry/contract/bulk-operation'
import {
  type BulkOperation,
  cancelBulkOperation,
  findBulkOperation,
  isEnding,
} from '@belfry/db/bulk-operations/bulk-operations'
import { AppError } from '@belfry/domain/app-error'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { presentDeadLetterOperation, presentTaskOperation } from './present-operation.ts'

export const getTaskOperation = endpoint({
  right: 'task.read',
  summary: 'Get the progress of a cancel or a stop in the background',
  answer: { status: 200, body: taskOperation },
  params: { operation: 'op' },
  async handle(ctx, { caller, params }) {
    return ok(presentTaskOperation(await find(ctx, caller.workspaceId, params.operation, 'ends tasks')))
  },
})

export const endTaskOperation = endpoint({
  right: 'task.delete',
  summary: 'Cancel a cancel or a stop in the background; what it has done stays done',
  answer: { status: 200, body: taskOperation },
  refusals: ['conflict'],
  params: { operation: 'op' },
  async handle(ctx, { caller, params }) {
    const operation = await find(ctx, caller.workspaceId, params.operation, 'ends tasks')
    return ok(presentTaskOperation(await cancel(ctx, operation)))
  },
})

export const getDeadLetterOperation = endpoint({
  right: 'dead_letter.read',
  summary: 'Get the progress of a replay or a discard in the background',
  answer: { status: 200, body: deadLetterOperation },
  params: { operation: 'op' },
  async handle(ctx, { caller, params }) {
    const operation = await find(ctx, caller.workspaceId, params.operation, 'settles dead letters')
    return ok(presentDeadLetterOperation(operation))
  },
})

export const cancelDeadLetterOperation = endpoint({
  right: 'dead_letter.replay',
  summary: 'Cancel a replay or a discard in the background; what it has done stays done',
  answer: { status: 200, body: deadLetterOperation },
  refusals: ['conflict'],
  params: { operation: 'op' },
  async handle(ctx, { caller, params }) {
    const operation = await find(ctx, caller.workspaceId, params.operation, 'settles dead letters')
    return ok(presentDeadLetterOperation(await cancel(ctx, operation)))
  },
})

async function find(
  { pool }: Context,
  workspaceId: string,
  id: string,
  kind: 'ends tasks' | 'settles dead letters',
): Promise<BulkOperation> {
  const operation = await findBulkOperation(pool, workspaceId, id)
  if (!operation || isEnding(operation.action) !== (kind === 'ends tasks')) throw notFound()
  return operation
}

async function cancel({ pool }: Context, { workspaceId, id }: BulkOperation): Promise<BulkOperation> {
  const cancelled = await cancelBulkOperation(pool, workspaceId, id)
  if (!cancelled) throw new AppError('conflict', 'The operation has already ended.')
  return cancelled
}
