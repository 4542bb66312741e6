import {
  bulkActions,
  bulkOperation,
  deadLetterOperation,
  startBulkOperationBody,
  taskOperation,
} from '@belfry/contract/bulk-operation'
import { listQuery, pageOf } from '@belfry/contract/page'
import {
  type BulkOperation,
  cancelBulkOperation,
  findBulkOperation,
  isEnding,
  listBulkOperations as listStored,
} from '@belfry/db/bulk-operations/bulk-operations'
import { AppError } from '@belfry/domain/app-error'
import { decide } from '@belfry/domain/permissions'
import { requireRight } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { notFound } from '../http/refusals.ts'
import { accepted, ok } from '../http/reply.ts'
import { presentDeadLetterOperation, presentOperation, presentTaskOperation } from './present-operation.ts'
import { startOperation } from './start-operation.ts'

const rightToStart = {
  cancel: 'task.delete',
  stop: 'task.delete',
  replay: 'dead_letter.replay',
  discard: 'dead_letter.discard',
} as const

export const startBulkOperation = endpoint({
  right: 'task.delete',
  orRights: ['dead_letter.replay', 'dead_letter.discard'],
  summary: 'Cancel, stop, replay or discard many tasks in the background',
  answer: { status: 202, body: bulkOperation },
  refusals: ['conflict'],
  body: startBulkOperationBody,
  async handle(ctx, { caller, body: { action, ids, filter = { ids }, per_second: perSecond = null } }) {
    requireRight(caller.actor, rightToStart[action])
    const operation = presentOperation(await startOperation(ctx, caller, { action, filter, perSecond }))
    return accepted(operation, { Location: `/api/v1/scheduler/bulk-operations/${operation.id}` })
  },
})

export const listBulkOperations = endpoint({
  right: 'task.read',
  orRights: ['dead_letter.read'],
  summary: 'List bulk operations, newest first; they are kept for 30 days after their end',
  answer: { status: 200, body: pageOf(bulkOperation) },
  query: listQuery,
  async handle(ctx, { caller: { workspaceId, actor }, query }) {
    const list = `bulk-operations:${workspaceId}`
    const readable = bulkActions.filter(action => decide(actor, rightToRead(action)).allowed)
    const page = { after: readCursor(list, query), limit: query.limit + 1 }
    return ok(toPage(list, query, await listStored(ctx.pool, workspaceId, readable, page), presentOperation))
  },
})

export const getBulkOperation = endpoint({
  right: 'task.read',
  orRights: ['dead_letter.read'],
  summary: 'Get the progress of a bulk operation',
  answer: { status: 200, body: bulkOperation },
  params: { operation: 'op' },
  async handle(ctx, { caller, params }) {
    const operation = await find(ctx, caller.workspaceId, params.operation)
    requireRight(caller.actor, rightToRead(operation.action))
    return ok(presentOperation(operation))
  },
})

export const cancelOperation = endpoint({
  right: 'task.delete',
  orRights: ['dead_letter.replay'],
  summary: 'Cancel a bulk operation; what it has done stays done',
  answer: { status: 200, body: bulkOperation },
  refusals: ['conflict'],
  params: { operation: 'op' },
  async handle(ctx, { caller, params }) {
    const operation = await find(ctx, caller.workspaceId, params.operation)
    requireRight(caller.actor, isEnding(operation.action) ? 'task.delete' : 'dead_letter.replay')
    return ok(presentOperation(await cancel(ctx, operation)))
  },
})

function rightToRead(action: BulkOperation['action']) {
  return isEnding(action) ? 'task.read' : 'dead_letter.read'
}

// The other names of these endpoints, each for one kind of operation.

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
  kind?: 'ends tasks' | 'settles dead letters',
): Promise<BulkOperation> {
  const operation = await findBulkOperation(pool, workspaceId, id)
  if (!operation || (kind && isEnding(operation.action) !== (kind === 'ends tasks'))) throw notFound()
  return operation
}

async function cancel({ pool }: Context, { workspaceId, id }: BulkOperation): Promise<BulkOperation> {
  const cancelled = await cancelBulkOperation(pool, workspaceId, id)
  if (!cancelled) throw new AppError('conflict', 'The operation has already ended.')
  return cancelled
}
