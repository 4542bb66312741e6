import type { SettleDeadLettersBody } from '@belfry/contract/bulk-operation'
import { operations } from '@belfry/contract/operations'
import type { BulkRequest } from '@belfry/db/bulk-operations/bulk-operations'
import {
  type SettleAction,
  type SettledDeadLetters,
  settleDeadLetters,
} from '@belfry/db/dead-letters/settle-dead-letters'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { isDeadLetter } from '@belfry/db/tasks/task-row'
import type { Allowed } from '../auth/authorize.ts'
import { presentDeadLetterOperation } from '../bulk-operations/present-operation.ts'
import { auditBulk, type BulkRight, selectAtOnce, startOperation } from '../bulk-operations/start-operation.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { accepted, Reply } from '../http/reply.ts'
import { findTasks } from '../tasks/find-tasks.ts'
import { enqueue } from '../tasks/schedule.ts'

export const listDeadLetters = endpoint(operations.listDeadLetters, async (ctx, { caller, query }) => {
  const dead = { ...query, state: ['dead' as const] }
  const only = { list: 'dead-letters', condition: isDeadLetter }
  return findTasks(ctx, caller, dead, only)
})

export const replayDeadLetters = endpoint(operations.replayDeadLetters, (ctx, { caller, body }) =>
  settle(ctx, caller, 'replay', body, body.per_second),
)

export const discardDeadLetters = endpoint(operations.discardDeadLetters, (ctx, { caller, body }) =>
  settle(ctx, caller, 'discard', body),
)

async function settle<A extends SettleAction>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  action: A,
  body: SettleDeadLettersBody,
  perSecond: number | null = null,
): Promise<Reply> {
  const count = action === 'replay' ? 'replayed' : 'discarded'
  const wanted = { action, filter: body.filter ?? { ids: body.ids }, perSecond }
  const ids = await selectAtOnce(ctx, caller.workspaceId, wanted)
  if (ids === null) {
    const operation = presentDeadLetterOperation(await startOperation(ctx, caller, wanted))
    return accepted(`/api/v1/scheduler/dead-letters/operations/${operation.id}`, { [count]: 0, operation })
  }
  const { deadLetters } = await settleAtOnce(ctx, caller, wanted, ids)
  return new Reply({ status: 200, body: { [count]: deadLetters.length, operation: null } })
}

/** Settles dead letters, and records it in the audit log of the organization. */
export async function settleAtOnce<A extends SettleAction>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  wanted: BulkRequest & { action: A },
  ids: readonly string[],
): Promise<SettledDeadLetters> {
  const { action, perSecond } = wanted
  const settled = await inTransaction(ctx.pool, async tx => {
    const result = await settleDeadLetters(tx, caller.workspaceId, ids, action, { perSecond, from: null })
    const count = result.deadLetters.length
    if (count > 0) await auditBulk(tx, caller, wanted, { count })
    return result
  })
  enqueue(ctx, settled.replays, settled.now)
  return settled
}
