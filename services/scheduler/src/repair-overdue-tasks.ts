import { dueTasksOf, openLateSearch, toDueTask } from '@belfry/db'
import type { QueueContext } from './context.ts'

const graceMs = 5_000
const workspacesPerPage = 100
const maxOfEach = 100
const maxPerRound = 10_000

/**
 * Opens the chore that adds jobs for tasks which have been due for five seconds and which no dispatcher has claimed. It
 * reads up to 100 of each workspace, so the backlog of one does not hide what another has lost, and ends a round after
 * 10,000. The next round continues with the workspaces that are left. Where a job exists already, nothing changes.
 * @returns A function that returns how many tasks were looked at.
 */
export function openRepair(
  ctx: Pick<QueueContext, 'pool' | 'queue' | 'clock' | 'metrics' | 'log'>,
): () => Promise<number> {
  const search = openLateSearch(ctx.pool)
  let late: string[] = []

  return async () => {
    if (late.length === 0) late = [...(await search(graceMs)).keys()]
    let seen = 0
    while (late.length > 0 && seen < maxPerRound) {
      const page = late.slice(0, workspacesPerPage)
      const due = await dueTasksOf(
        ctx.pool,
        page.map(workspaceId => ({ workspaceId })),
        maxOfEach,
      )
      await ctx.queue.schedule(due.map(toDueTask), ctx.clock.now())
      late = late.slice(page.length)
      seen += due.length
    }
    ctx.metrics.repaired(seen)
    if (seen > 0) ctx.log.info({ tasks: seen }, 'overdue.scheduled')
    return seen
  }
}
