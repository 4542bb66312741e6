import { randomUUID } from 'node:crypto'
import { dueTasksOf, lateWorkspaces } from '@belfry/db'
import type { Context } from './context.ts'
import { toDueTask } from './promote-due-tasks.ts'

const graceMs = 5_000
const workspacesPerPage = 100
const mostOfEach = 100
const mostPerRound = 10_000

/**
 * Adds jobs for tasks that are due for some seconds and that nobody has claimed, whatever the reason: some of each
 * workspace, so that the backlog of one does not hide what another has lost. Where a job exists already, nothing changes.
 * @returns How many tasks were looked at.
 */
export async function repairOverdueTasks(ctx: Context): Promise<number> {
  const late = await lateWorkspaces(ctx.pool, { graceMs, startAt: randomUUID() })
  let seen = 0
  for (let i = 0; i < late.length && seen < mostPerRound; i += workspacesPerPage) {
    const queries = late.slice(i, i + workspacesPerPage).map(workspaceId => ({ workspaceId }))
    const due = await dueTasksOf(ctx.pool, queries, mostOfEach)
    await ctx.queue.schedule(due.map(toDueTask), Date.now())
    seen += due.length
  }
  ctx.metrics.repaired(seen)
  if (seen > 0) ctx.log.info({ tasks: seen }, 'overdue.scheduled')
  return seen
}
