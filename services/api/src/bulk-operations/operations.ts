import { rightToRead } from '@belfry/contract/brief-forms'
import { bulkActions } from '@belfry/contract/bulk-operation'
import type { Operation } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import {
  type BulkOperation,
  cancelBulkOperation,
  findBulkOperation,
  isEnding,
  listBulkOperations as listStored,
} from '@belfry/db/bulk-operations/bulk-operations'
import { AppError } from '@belfry/domain/app-error'
import { type ActionIn, decide } from '@belfry/domain/permissions'
import type { z } from 'zod'
import { requireRight } from '../auth/authorize.ts'
import { endpoint } from '../endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { notFound } from '../http/refusals.ts'
import { accepted } from '../http/reply.ts'
import { presentDeadLetterOperation, presentOperation, presentTaskOperation } from './present-operation.ts'
import { bulkRight, startOperation } from './start-operation.ts'

type Action = BulkOperation['action']

const rightToCancel = (action: Action) => (isEnding(action) ? 'task.delete' : 'dead_letter.replay')

export const startBulkOperation = endpoint(
  operations.startBulkOperation,
  async (ctx, { caller, body: { action, ids, filter = { ids }, per_second: perSecond = null } }) => {
    const allowed = requireRight(caller, bulkRight(action))
    const operation = presentOperation(await startOperation(ctx, allowed, { action, filter, perSecond }))
    return accepted(`/api/v1/scheduler/bulk-operations/${operation.id}`, operation)
  },
)

export const listBulkOperations = endpoint(
  operations.listBulkOperations,
  async (ctx, { caller: { workspaceId, actor }, query }) => {
    const list = `bulk-operations:${workspaceId}`
    const readable = bulkActions.filter(action => decide(actor, rightToRead({ action })).allowed)
    const page = { after: readCursor(list, query), limit: query.limit + 1 }
    return toPage(list, query, await listStored(ctx.pool, workspaceId, readable, page), presentOperation)
  },
)

/** The public form of operations, and the actions of those that have it. */
type Form = { actions: readonly Action[]; present(operation: BulkOperation): unknown }

const general: Form = { actions: bulkActions, present: presentOperation }
// The older names of the same endpoints have forms of their own.
const ofTasks: Form = { actions: ['cancel', 'stop'], present: presentTaskOperation }
const ofDeadLetters: Form = { actions: ['replay', 'discard'], present: presentDeadLetterOperation }

export const getBulkOperation = reading(operations.getBulkOperation, general)
export const getTaskOperation = reading(operations.getTaskOperation, ofTasks)
export const getDeadLetterOperation = reading(operations.getDeadLetterOperation, ofDeadLetters)

export const cancelOperation = cancelling(operations.cancelOperation, general)
export const endTaskOperation = cancelling(operations.endTaskOperation, ofTasks)
export const cancelDeadLetterOperation = cancelling(operations.cancelDeadLetterOperation, ofDeadLetters)

type OnOperation = Operation & {
  path: `${string}/:operation` | `${string}/:operation/${string}`
  right: ActionIn<'workspace'>
  answer: { status: 200; body: z.ZodType }
}

function reading(operation: OnOperation, { actions, present }: Form) {
  return endpoint(operation, async (ctx, { caller, params }) => {
    const operation = await findBulkOperation(ctx.pool, caller.workspaceId, params.operation)
    if (!operation || !actions.includes(operation.action)) throw notFound()
    requireRight(caller, rightToRead(operation))
    return present(operation)
  })
}

function cancelling(operation: OnOperation, { actions, present }: Form) {
  return endpoint(operation, async (ctx, { caller, params }) => {
    const { workspaceId } = caller
    const operation = await findBulkOperation(ctx.pool, workspaceId, params.operation)
    if (!operation || !actions.includes(operation.action)) throw notFound()
    requireRight(caller, rightToCancel(operation.action))
    const cancelled = await cancelBulkOperation(ctx.pool, workspaceId, operation.id)
    if (!cancelled) throw new AppError('conflict', 'The operation has already ended.')
    return present(cancelled)
  })
}
