import { type DeadLetterOperation, deadLetterOperation } from '@belfry/contract/dead-letter'
import type { RunErrorCode } from '@belfry/contract/run'
import {
  cancelDeadLetterOperation,
  findDeadLetterOperation,
  type DeadLetterOperation as Row,
} from '@belfry/db/dead-letters/dead-letter-operations'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'

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

/** Returns the public form of an operation. */
export function presentOperation(row: Row): DeadLetterOperation {
  return {
    id: toId('op', row.id),
    workspace_id: toId('ws', row.workspaceId),
    action: row.action,
    filter: {
      cronjob_id: row.cronJobId && toId('cron', row.cronJobId),
      topic: row.topic,
      label: row.label,
      from: row.executeFrom?.toISOString() ?? null,
      to: row.executeTo?.toISOString() ?? null,
      name: row.name,
      host: row.hosts && [...row.hosts],
      error: row.errors as RunErrorCode[] | null, // checked when the operation was started
    },
    per_second: row.perSecond,
    status: statusOf(row),
    total: row.total,
    settled: row.settled,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

function statusOf({ cancelled, finishedAt }: Row): DeadLetterOperation['status'] {
  if (cancelled) return 'cancelled'
  return finishedAt === null ? 'running' : 'done'
}
