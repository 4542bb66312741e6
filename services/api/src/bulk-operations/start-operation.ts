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
import type { EndAction } from '@belfry/db/tasks/end-tasks'
import { findMatchingTasks } from '@belfry/db/tasks/task-filter'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { audit } from '../audit/audit.ts'
import type { WorkspaceCaller } from '../auth/authorize.ts'
import type { Context } from '../context.ts'

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
export async function startOperation(
  ctx: Context,
  caller: WorkspaceCaller,
  wanted: BulkRequest,
): Promise<BulkOperation> {
  const operation = await inTransaction(ctx.pool, async tx => {
    const { isNew, ...started } = await startBulkOperation(tx, caller.workspaceId, wanted)
    const details = { operation: toId('op', started.id), count: started.total }
    if (isNew && isEnding(wanted.action)) await auditEnded(tx, caller, wanted.action, details)
    return started
  })
  const filter: unknown = JSON.parse(JSON.stringify(wanted.filter)) // as it is stored
  const { action, perSecond } = operation
  if (isDeepStrictEqual({ action, perSecond, filter: operation.filter }, { ...wanted, filter })) return operation
  const other = toId('op', operation.id)
  throw new AppError('conflict', `The workspace has ${other} in progress. Wait until it is done, or cancel it.`)
}

/** Records in the audit log that tasks are ended. */
export function auditEnded(
  tx: Transaction,
  caller: WorkspaceCaller,
  ended: EndAction,
  details: Record<string, unknown>,
): Promise<void> {
  const action = ended === 'cancel' ? 'task.bulk_cancelled' : 'task.bulk_stopped'
  return audit(tx, caller, { action, objectId: toId('ws', caller.workspaceId), details })
}
