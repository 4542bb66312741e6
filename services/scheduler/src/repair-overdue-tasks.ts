import { overdueTasks } from '@belfry/db'
import type { Context } from './context.ts'
import { toDueTask } from './promote-due-tasks.ts'

const graceMs = 5_000
const mostPagesPerRound = 10

/**
 * Adds a job for every task that is due for some seconds and that nobody has claimed, whatever the reason. Where the
 * job exists already, nothing changes.
 * @returns How many tasks were looked at.
 */
export async function repairOverdueTasks(ctx: Context): Promise<number> {
  let seen = 0
  let pages = 0
  for await (const page of overdueTasks(ctx.pool, graceMs)) {
    await ctx.queue.schedule(page.map(toDueTask), Date.now())
    seen += page.length
    if (++pages === mostPagesPerRound) break
  }
  if (seen > 0) ctx.log.info({ tasks: seen }, 'overdue.scheduled')
  return seen
}
