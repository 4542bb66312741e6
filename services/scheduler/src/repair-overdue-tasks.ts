import { toDueTask } from '@belfry/db/tasks/due-work'
import { dueTasksOf, openLateSearch } from '@belfry/db/tasks/late-work'
import type { QueueContext } from './context.ts'

const graceMs = 5_000
const workspacesPerPage = 100
const maxOfEach = 100
const maxPerRound = 10_000

/**
 * Opens the chore that adds jobs for tasks that have been due for five seconds and that no dispatcher has claimed. A round
 * reads up to 100 tasks of each workspace, so one backlog does not hide the lost jobs of another workspace, and ends after
 * 10,000. The next round continues with the remaining workspaces. Jobs that exist already do not change.
 * @returns A function that runs a round and returns how many tasks it read.
 */
export function openRepair(ctx: Pick<QueueContext, 'pool' | 'queue' | 'clock' | 'metrics' | 'log'>) {
  const search = openLateSearch(ctx.pool)
  let late: string[] = []

  return async () => {
    if (late.length === 0) late = [...(await search(graceMs)).keys()]
    let seen = 0
    while (late.length > 0 && seen < maxPerRound) {
      const page = late.slice(0, workspacesPerPage)
      const queries = page.map(workspaceId => ({ workspaceId }))
      const due = await dueTasksOf(ctx.pool, queries, maxOfEach)
      await ctx.queue.schedule(due.map(toDueTask), ctx.clock.now())
      late = late.slice(page.length)
      seen += due.length
    }
    ctx.metrics.repaired(seen)
    if (seen > 0) ctx.log.info({ tasks: seen }, 'overdue.scheduled')
    return seen
  }
}
