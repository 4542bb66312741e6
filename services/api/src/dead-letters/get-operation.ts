import { deadLetterOperation } from '@belfry/contract'
import { findDeadLetterOperation } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { presentOperation } from './present-operation.ts'

export const getOperation = endpoint({
  right: 'dead_letter.read',
  summary: 'Get the progress of a replay or a discard in the background',
  answer: { status: 200, body: deadLetterOperation },
  params: { operation: 'op' },
  async handle(ctx, { caller, params }) {
    const operation = await findDeadLetterOperation(ctx.pool, caller.workspaceId, params.operation)
    if (!operation) throw notFound()
    return ok(presentOperation(operation))
  },
})
