import { isDeepStrictEqual } from 'node:util'
import {
  type BulkOperation,
  type BulkRequest,
  isEnding,
  isPrefetched,
  openTo,
  startBulkOperation,
} from '@belfry/db/bulk-operations/bulk-operations'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { findMatchingTasks } from '@belfry/db/tasks/task-filter'
import { AppError } from '@belfry/domain/app-error'
import { auditRights } from '@belfry/domain/audit-action'
import { toId } from '@belfry/domain/id'
import { audit } from '../audit/audit.ts'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { presentFilter } from './present-operation.ts'

// More than this the scheduler does in the background, as an operation. So it does when the filter is too slow for a request.
const maxAtOnce = 1_000

/** Returns the tasks that a filter selects for an action; null when an operation has to find them. */
export async function selectAtOnce(
  { pool }: Context,
  workspaceId: string,
  { action, filter }: BulkRequest,
): Promise<string[] | null> {
  if (filter.ids) return filter.ids
  const also = isEnding(action) ? isPrefetched : 'false'
  const { ids, isComplete } = await findMatchingTasks(pool, workspaceId, openTo[action], filter, maxAtOnce + 1, {
    also,
  })
  return isComplete ? ids : null
}

/** Starts an operation, or returns the running one when it is the same. Refuses while another one of its kind is running. */
export async function startOperation<A extends Action>(
  ctx: Context,
  caller: Allowed<BulkRight<A>>,
  wanted: BulkRequest & { action: A },
): Promise<BulkOperation> {
  const operation = await inTransaction(ctx.pool, async tx => {
    const { isNew, ...started } = await startBulkOperation(tx, caller.workspaceId, wanted)
    const details = { operation: toId('op', started.id), count: started.total }
    if (isNew) await auditBulk(tx, caller, wanted, details)
    return started
  })
  const filter: unknown = JSON.parse(JSON.stringify(wanted.filter)) // as it is stored
  const { action, perSecond } = operation
  if (isDeepStrictEqual({ action, perSecond, filter: operation.filter }, { ...wanted, filter })) return operation
  const other = toId('op', operation.id)
  throw new AppError('conflict', `The workspace has ${other} in progress. Wait until it is done, or cancel it.`)
}

type Action = BulkRequest['action']

const auditActions = {
  cancel: 'task.bulk_cancelled',
  stop: 'task.bulk_stopped',
  replay: 'dead_letter.replayed',
  discard: 'dead_letter.discarded',
} as const

/** The right that an action on many tasks needs. */
export type BulkRight<A extends Action> = (typeof auditRights)[(typeof auditActions)[A]]

export function bulkRight<A extends Action>(action: A): BulkRight<A> {
  return auditRights[auditActions[action]]
}

/** Records in the audit log what happens to many tasks, with the filter that has selected them. */
export function auditBulk<A extends Action>(
  tx: Transaction,
  caller: Allowed<BulkRight<A>>,
  { action, filter = {} }: { action: A; filter?: BulkRequest['filter'] },
  details: Record<string, unknown>,
): Promise<void> {
  const given = Object.entries(presentFilter(filter)).filter(([, value]) => value !== null)
  const selected = given.length > 0 ? { filter: Object.fromEntries(given) } : {}
  const audited = { action: auditActions[action], objectId: toId('ws', caller.workspaceId) }
  return audit(tx, caller, { ...audited, details: { ...details, ...selected } })
}
