import { type Expansion, expandCronJobs as expandBatch, stepPromotionBack } from '@belfry/db'
import { toId } from '@belfry/domain'
import { expansionLookAheadMs, isSoon } from '@belfry/queue'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'
import { toDueTask } from './promote-due-tasks.ts'

const batchSize = 500

/**
 * Makes the occurrences of cron jobs into tasks, some minutes ahead of their time. The promotion brings these to the queue;
 * what is due sooner, because nothing ran for a while, is added here.
 * @returns How many cron jobs were looked at.
 */
export async function expandCronJobs(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  for (;;) {
    const expansion = await expandBatch(ctx.pool, { lookAheadMs: expansionLookAheadMs, limit: batchSize })
    total += expansion.jobs
    ctx.metrics.occurrences(expansion.tasks.length)
    ctx.metrics.missed(expansion.missed)
    ctx.metrics.unreadable(expansion.unreadable.length)
    if (expansion.tasks.length > 0) await failpoint('scheduler.expanded_cron_jobs')
    for (const { id, error } of expansion.unreadable) {
      ctx.log.error({ err: error, cronjob: toId('cron', id) }, 'cron_job.unreadable')
    }
    await addSoon(ctx, expansion)
    if (expansion.jobs < batchSize || signal.aborted) return total
  }
}

async function addSoon(ctx: Context, { tasks, now }: Expansion): Promise<void> {
  const soon = tasks.map(toDueTask).filter(task => isSoon(task.dueAt, now.getTime()))
  if (soon.length === 0) return
  try {
    await ctx.queue.schedule(soon, now.getTime())
  } catch (error) {
    ctx.log.warn({ err: error }, 'queue.away')
    await stepPromotionBack(ctx.pool)
  }
}
