import { expandCronJobs as expandBatch, toDueTask } from '@belfry/db'
import { toId } from '@belfry/domain'
import { expansionLookAheadMs } from '@belfry/queue'
import { failpoint } from '@belfry/runtime'
import { addJobs } from './add-jobs.ts'
import type { Context } from './context.ts'

const batchSize = 500

// A process that can read the rule need not wait for this: it has a memory of its own.
const lookAgainMs = 30_000

/** Cron jobs whose rule this process cannot read, and when it looks at them again, by `performance.now()`. */
export type UnreadableCronJobs = Map<string, number>

/**
 * Makes the occurrences of cron jobs into tasks, some minutes ahead of their time. The promotion brings these to the queue;
 * what is due sooner, because nothing ran for a while, is added here. A cron job that this process cannot read stays as
 * it is, for one that can, and is looked at again after 30 s.
 * @param unreadable - What this process remembers from one round to the next.
 * @returns How many cron jobs were looked at.
 */
export async function expandCronJobs(
  ctx: Context,
  signal: AbortSignal,
  unreadable: UnreadableCronJobs = new Map(),
): Promise<number> {
  for (const [id, lookAgainAt] of unreadable) if (lookAgainAt <= performance.now()) unreadable.delete(id)
  let total = 0
  for (;;) {
    const except = [...unreadable.keys()]
    const expansion = await expandBatch(ctx.pool, { lookAheadMs: expansionLookAheadMs, limit: batchSize, except })
    total += expansion.jobs
    ctx.metrics.occurrences(expansion.tasks.length)
    ctx.metrics.missed(expansion.missed)
    ctx.metrics.unreadable(expansion.unreadable.length)
    if (expansion.tasks.length > 0) await failpoint('scheduler.expanded_cron_jobs')
    for (const { id, error } of expansion.unreadable) {
      unreadable.set(id, performance.now() + lookAgainMs)
      ctx.log.error({ err: error, cronjob: toId('cron', id) }, 'cron_job.unreadable')
    }
    await addJobs(ctx, expansion.tasks.map(toDueTask), expansion.now)
    if (!expansion.hasMore || signal.aborted) return total
  }
}
