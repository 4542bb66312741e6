import type { SettleDeadLettersBody } from '@belfry/contract'
import {
  type DeadLetterAction,
  type DeadLetterFilter,
  type DeadLetterOperation,
  findDeadLetters,
  settleDeadLetters as settle,
  startDeadLetterOperation,
} from '@belfry/db'
import { AppError, toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import { enqueueRows, hideDeadLetters } from '../tasks/enqueue.ts'

// More than this is work for the background.
const maxAtOnce = 1_000

/** Replays or discards at once, or has the scheduler do it when there are too many: then there is an operation. */
export async function settleDeadLetters(
  ctx: Context,
  workspaceId: string,
  action: DeadLetterAction,
  body: SettleDeadLettersBody,
): Promise<{ settled: number; operation: DeadLetterOperation | null }> {
  const filter = toFilter(body.filter)
  const ids = body.ids ?? (await findDeadLetters(ctx.pool, workspaceId, filter, maxAtOnce + 1))
  if (ids.length > maxAtOnce) return { settled: 0, operation: await start(ctx, workspaceId, action, filter) }
  const { deadLetters, replays, now } = await settle(ctx.pool, workspaceId, ids, action)
  enqueueRows(ctx, replays, now)
  hideDeadLetters(
    ctx,
    deadLetters.map(id => toId('task', id)),
  )
  return { settled: deadLetters.length, operation: null }
}

async function start(ctx: Context, workspaceId: string, action: DeadLetterAction, filter: DeadLetterFilter) {
  const operation = await startDeadLetterOperation(ctx.pool, workspaceId, action, filter)
  if (operation.action === action && isSame(operation, filter)) return operation
  const other = toId('op', operation.id)
  throw new AppError('conflict', `The workspace works on ${other} already. Wait until it is done, or cancel it.`)
}

function isSame(operation: DeadLetterFilter, filter: DeadLetterFilter): boolean {
  return (
    operation.cronJobId === filter.cronJobId &&
    operation.topic === filter.topic &&
    operation.executeFrom?.getTime() === filter.executeFrom?.getTime() &&
    operation.executeTo?.getTime() === filter.executeTo?.getTime()
  )
}

function toFilter(filter: SettleDeadLettersBody['filter']): DeadLetterFilter {
  return {
    cronJobId: filter?.cronjob_id ?? null,
    topic: filter?.topic ?? null,
    executeFrom: filter?.from ?? null,
    executeTo: filter?.to ?? null,
  }
}
