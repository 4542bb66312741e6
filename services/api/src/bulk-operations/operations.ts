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
import type { z } from 'zod'
import { requireRight } from '../auth/authorize.ts'
import { endpoint } from '../endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { notFound } from '../http/refusals.ts'
import { accepted, ok } from '../http/reply.ts'
import { presentDeadLetterOperation, presentOperation, presentTaskOperation } from './present-operation.ts'
import { bulkRight, startOperation } from './start-operation.ts'

type Action = BulkOperation['action']

const rightToRead = (action: Action) => (isEnding(action) ? 'task.read' : 'dead_letter.read')
const rightToCancel = (action: Action) => (isEnding(action) ? 'task.delete' : 'dead_letter.replay')

export const startBulkOperation = endpoint({
  right: 'task.delete',
  orRights: ['dead_letter.replay', 'dead_letter.discard'],
  summary: 'Cancel, stop, replay or discard many tasks in the background',
  answer: { status: 202, body: bulkOperation },
  refusals: ['conflict'],
  body: startBulkOperationBody,
  async handle(ctx, { caller, body: { action, ids, filter = { ids }, per_second: perSecond = null } }) {
    const allowed = requireRight(caller, bulkRight(action))
    const operation = presentOperation(await startOperation(ctx, allowed, { action, filter, perSecond }))
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

/** The public form of operations, and the actions of those that have it. */
type Form = { actions: readonly Action[]; body: z.ZodType; present(operation: BulkOperation): unknown }

const general: Form = { actions: bulkActions, body: bulkOperation, present: presentOperation }
// The older names of the same endpoints have forms of their own.
const ofTasks: Form = { actions: ['cancel', 'stop'], body: taskOperation, present: presentTaskOperation }
const ofDeadLetters: Form = {
  ...{ actions: ['replay', 'discard'], body: deadLetterOperation, present: presentDeadLetterOperation },
}

export const getBulkOperation = reading(general, 'Get the progress of a bulk operation')
export const getTaskOperation = reading(ofTasks, 'Get the progress of a cancel or a stop in the background')
export const getDeadLetterOperation = reading(
  ofDeadLetters,
  'Get the progress of a replay or a discard in the background',
)

export const cancelOperation = cancelling(general, 'Cancel a bulk operation; what it has done stays done')
export const endTaskOperation = cancelling(
  ofTasks,
  'Cancel a cancel or a stop in the background; what it has done stays done',
)
export const cancelDeadLetterOperation = cancelling(
  ofDeadLetters,
  'Cancel a replay or a discard in the background; what it has done stays done',
)

function reading({ actions, body, present }: Form, summary: string) {
  const [right = 'task.read', ...orRights] = new Set(actions.map(rightToRead))
  return endpoint({
    ...{ right, orRights, summary },
    answer: { status: 200, body },
    params: { operation: 'op' },
    async handle(ctx, { caller, params }) {
      const operation = await findBulkOperation(ctx.pool, caller.workspaceId, params.operation)
      if (!operation || !actions.includes(operation.action)) throw notFound()
      requireRight(caller, rightToRead(operation.action))
      return ok(present(operation))
    },
  })
}

function cancelling({ actions, body, present }: Form, summary: string) {
  const [right = 'task.delete', ...orRights] = new Set(actions.map(rightToCancel))
  return endpoint({
    ...{ right, orRights, summary },
    answer: { status: 200, body },
    refusals: ['conflict'],
    params: { operation: 'op' },
    async handle(ctx, { caller, params }) {
      const { workspaceId } = caller
      const operation = await findBulkOperation(ctx.pool, workspaceId, params.operation)
      if (!operation || !actions.includes(operation.action)) throw notFound()
      requireRight(caller, rightToCancel(operation.action))
      const cancelled = await cancelBulkOperation(ctx.pool, workspaceId, operation.id)
      if (!cancelled) throw new AppError('conflict', 'The operation has already ended.')
      return ok(present(cancelled))
    },
  })
}
