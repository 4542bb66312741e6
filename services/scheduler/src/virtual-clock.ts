import { advanceRatedQueues, openQueueSearch } from '@belfry/db/queues/advance-queues'
import type { Loop, VirtualRole } from '@belfry/runtime'
import type { Context } from './context.ts'
import { drain } from './drain.ts'
import { expandCronJobs } from './expand-cron-jobs.ts'
import { expireOverdue } from './expire-tasks.ts'
import { stepBulkOperations } from './step-bulk-operations.ts'

/** Returns the part of the scheduler in a move of the virtual clock: its chores run when their work is due. */
export function createVirtualScheduler(ctx: Context, chores: readonly Loop[], stop: AbortSignal): VirtualRole {
  const searchQueues = openQueueSearch(ctx.pool)
  return {
    async work(due) {
      let done = 0
      if (due.lookAheadMs > 0) done += await expandCronJobs(ctx, stop, new Map(), due.lookAheadMs)
      if (due.deadlines) done += await expireOverdue(ctx, stop)
      if (due.rateLimits) done += await drain(stop, 200, limit => advanceRatedQueues(ctx.pool, limit))
      if (due.blocked) await searchQueues() // the dispatcher finds the tasks that may start
      if (due.operations) done += await stepBulkOperations(ctx, stop)
      return done
    },
    async upkeep() {
      await Promise.all(chores.map(chore => chore.run(stop).catch(chore.onError)))
    },
  }
}
