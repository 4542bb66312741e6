import { openLateSearch } from '@belfry/db/tasks/late-work'
import type { Context } from '../context.ts'

// Longer than notifications, jobs and readings need.
const graceMs = 3_000
const fewBuffered = 100

type LateWorkContext = Pick<Context, 'pool' | 'buffer' | 'hostQueues' | 'backlog' | 'log'>

/**
 * Opens the search for workspaces whose tasks have been due for three seconds: a notification or a job was lost, or the
 * queue is slow. `refillQueues` then reads their tasks, each dispatcher its share. When a task is the oldest one of its
 * workspace in two thorough rounds that read the workspace, its dispatcher is too busy or dying, so this one reads the whole
 * workspace.
 *
 * When many tasks of a workspace are buffered, its tasks are late because there is much to do. Only thorough rounds search
 * such a workspace for a task that was lost.
 * @returns A function that searches once, and returns how many workspaces have late work.
 */
export function openFindLateWork(ctx: LateWorkContext): (isThorough: boolean) => Promise<number> {
  const [search, thoroughSearch] = [openLateSearch(ctx.pool), openLateSearch(ctx.pool)]

  return async isThorough => {
    const late = await (isThorough ? thoroughSearch : search)(graceMs)
    for (const [workspace, { isStuck }] of late) {
      const startable = ctx.buffer.countOf(workspace) - ctx.hostQueues.blockedOf(workspace)
      if (isThorough && isStuck) ctx.backlog.addWhole(workspace)
      else if (isThorough || startable < fewBuffered) ctx.backlog.add(workspace, 0)
    }
    const missed = [...late.keys()].filter(workspace => ctx.buffer.countOf(workspace) === 0)
    if (missed.length > 0) ctx.log.warn({ workspaces: missed.length }, 'tasks.late')
    return late.size
  }
}
