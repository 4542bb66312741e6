import { openLateSearch } from '@belfry/db'
import type { Context } from '../context.ts'

// Longer than notifications, jobs and readings need.
const graceMs = 3_000
const fewBuffered = 100

type LateWorkContext = Pick<Context, 'pool' | 'hand' | 'lines' | 'backlog' | 'log'>

/** Looks for late work once. A thorough round also reads workspaces that have many tasks in the prefetch buffer. */
export type FindLateWork = (isThorough: boolean) => Promise<number>

/**
 * Opens the search for workspaces whose tasks have been due for three seconds: a notification or a job was lost, or the
 * queue is slow. `refillLines` then reads their tasks, each dispatcher its share. Where the same task is the oldest in two
 * thorough rounds, the dispatcher that it belongs to is too busy or dying, so this one reads the whole workspace.
 *
 * Where many tasks of a workspace are buffered, these are late because there is much to do. Only thorough rounds look
 * among them for one that was lost.
 * @returns A function that returns how many workspaces have late work.
 */
export function openFindLateWork(ctx: LateWorkContext): FindLateWork {
  const search = openLateSearch(ctx.pool)
  let oldestBefore = new Map<string, string>()

  return async isThorough => {
    const late = await search(graceMs)
    for (const [workspace, oldest] of late) {
      const startable = ctx.hand.countOf(workspace) - ctx.lines.parkedOf(workspace)
      if (isThorough && oldestBefore.get(workspace) === oldest) ctx.backlog.noteAll(workspace)
      else if (isThorough || startable < fewBuffered) ctx.backlog.note(workspace, 0)
    }
    if (isThorough) oldestBefore = late
    const missed = [...late.keys()].filter(workspace => ctx.hand.countOf(workspace) === 0)
    if (missed.length > 0) ctx.log.warn({ workspaces: missed.length }, 'tasks.late')
    return late.size
  }
}
