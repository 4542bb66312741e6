import { dueTasksOf, type WaitingRow } from '@belfry/db'
import type { Context } from '../context.ts'
import { admit } from './admit.ts'
import type { TaskInHand } from './hand.ts'
import { targetOf } from './target-of.ts'

const few = 1_000
const pageSize = 2_000
const maxWorkspaces = 200

/**
 * Takes due tasks straight from PostgreSQL for the workspaces that have a backlog there and few buffered tasks that could
 * start: for each workspace a part of one page. Of several dispatchers each reads its own share of the tasks.
 * @returns How many tasks were taken.
 */
export async function refillLines(ctx: Context): Promise<number> {
  const isHungry = (workspace: string) => ctx.hand.countOf(workspace) - ctx.lines.parkedOf(workspace) < few
  const readings = ctx.backlog.next(isHungry, maxWorkspaces, ctx.clock.now())
  if (readings.length === 0) return 0
  const limit = Math.ceil(pageSize / readings.length)
  const share = ctx.share.current()
  const queries = readings.map(({ workspace, after, isWhole }) => {
    return { workspaceId: workspace, after, ...(isWhole ? {} : { share }) }
  })
  const rows = await dueTasksOf(ctx.pool, queries, limit)
  if (ctx.stop.aborted) return 0
  const pages = new Map(readings.map(({ workspace }) => [workspace, [] as WaitingRow[]]))
  for (const row of rows) pages.get(row.workspaceId)?.push(row)
  let total = 0
  for (const [workspace, page] of pages) {
    const count = admit(
      ctx,
      page.map(row => toTaskInHand(workspace, row)),
    )
    const last = page.length === limit ? (page.at(-1) ?? null) : null
    ctx.backlog.read({ workspace, ...count, last }, ctx.clock.now())
    total += count.taken
  }
  ctx.metrics.refilled(total)
  return total
}

// With the workspace's id that all of its tasks share.
function toTaskInHand(workspace: string, { id, dueAt, origin }: WaitingRow): TaskInHand {
  return { id, workspace, dueAt: dueAt.getTime(), ...targetOf(origin) }
}
