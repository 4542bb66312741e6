import { stepBulkOperation } from '@belfry/db/bulk-operations/step-bulk-operation'
import { advanceQueuesOf } from '@belfry/db/queues/advance-queues'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'

const batchSize = 500

/**
 * Works on the bulk operations, round-robin. Each step commits its progress together with its effects. An operation that waits
 * for prefetched tasks, or whose step fails, continues with the next call. Rejects with the first failure when the others have
 * ended or wait.
 * @returns How many tasks were ended or settled.
 */
export async function stepBulkOperations(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  const waiting: string[] = []
  let failure: unknown
  while (!signal.aborted) {
    const step = await stepBulkOperation(ctx.pool, batchSize, waiting)
    if (!step) break
    if (step.isWaiting) waiting.push(step.id)
    failure ??= step.failure
    if (step.ended.length > 0) await advanceQueuesOf(ctx.pool, step.ended)
    if (__FAILPOINTS__) await failpoint('scheduler.bulk_operation_stepped')
    total += step.done
  }
  if (failure !== undefined) throw failure
  return total
}
