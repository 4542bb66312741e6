import { deadLetterOperation } from '@belfry/contract'
import { cancelDeadLetterOperation, findDeadLetterOperation } from '@belfry/db'
import { AppError } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { presentOperation } from './present-operation.ts'

export const cancelOperation = endpoint({
  right: 'dead_letter.replay',
  summary: 'Cancel a replay or a discard in the background; what it has done stays done',
  answer: { status: 200, body: deadLetterOperation },
  refusals: ['conflict'],
  params: { operation: 'op' },
  async handle(ctx, { caller: { workspaceId }, params }) {
    const isCancelled = await cancelDeadLetterOperation(ctx.pool, workspaceId, params.operation)
    const operation = await findDeadLetterOperation(ctx.pool, workspaceId, params.operation)
    if (!operation) throw notFound()
    if (!isCancelled) throw new AppError('conflict', 'The operation has already ended.')
    return ok(presentOperation(operation))
  },
})
