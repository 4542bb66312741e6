import { expandCronJobs as expandBatch } from '@belfry/db/cron-jobs/expand-cron-jobs'
import { scheduleOrStepBack, toDueTask } from '@belfry/db/tasks/due-work'
import { toId } from '@belfry/domain/id'
import { type DueTask, expansionLookAheadMs, needsJob } from '@belfry/queue'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'

const batchSize = 500

// For this process only. A process that can read the rule expands the cron job at once.
const retryUnreadableMs = 30_000

/** Cron jobs whose rule this process cannot read, and when it tries them again, by `performance.now()`. */
export type UnreadableCronJobs = Map<string, number>

/**
 * Stores the occurrences of cron jobs as tasks, some minutes ahead of their time. The promotion adds their jobs later.
 * Occurrences that are due sooner, e.g. after an outage, get their jobs here. A cron job that this process cannot read
 * is left to a process that can, and is tried again after 30 s.
 * @param unreadable - The unreadable cron jobs of earlier rounds.
 * @param lookAheadMs - Default: six minutes.
 * @returns How many cron jobs were examined.
 */
export async function expandCronJobs(
  ctx: Context,
  signal: AbortSignal,
  unreadable: UnreadableCronJobs = new Map(),
  lookAheadMs = expansionLookAheadMs,
): Promise<number> {
  for (const [id, retryAt] of unreadable) if (retryAt <= performance.now()) unreadable.delete(id)
  let total = 0
  for (;;) {
    const except = [...unreadable.keys()]
    const expansion = await expandBatch(ctx.pool, { lookAheadMs, limit: batchSize, except })
    total += expansion.jobs
    ctx.metrics.occurrences(expansion.tasks.length)
    ctx.metrics.missed(expansion.missed)
    ctx.metrics.unreadable(expansion.unreadable.length)
    if (__FAILPOINTS__ && expansion.tasks.length > 0) await failpoint('scheduler.expanded_cron_jobs')
    for (const { id, error } of expansion.unreadable) {
      unreadable.set(id, performance.now() + retryUnreadableMs)
      ctx.log.error({ err: error, cronjob: toId('cron', id) }, 'cron_job.unreadable')
    }
    await addJobs(ctx, expansion.tasks.map(toDueTask), expansion.now)
    if (!expansion.hasMore || signal.aborted) return total
  }
}

// Adds the jobs of the tasks whose time the promotion has passed already.
async function addJobs({ queue, pool, log }: Context, tasks: readonly DueTask[], now: Date): Promise<void> {
  const soon = tasks.filter(task => needsJob(task.dueAt, now.getTime()))
  if (queue === null || soon.length === 0) return
  const schedule = () => queue.schedule(soon, now.getTime())
  await scheduleOrStepBack(pool, schedule, error => log.warn({ err: error }, 'queue.away'))
}
