import type { WaitingRow } from '@belfry/db/tasks/due-work'
import { dueTasksOf } from '@belfry/db/tasks/late-work'
import { wholeShare } from '@belfry/db/tasks/task-share'
import type { Context } from '../context.ts'
import { admit } from './admit.ts'
import { toIncomingTask } from './incoming-task.ts'

const fewBuffered = 1_000
const pageSize = 2_000
const maxWorkspaces = 200

/**
 * Reads due tasks from PostgreSQL for the workspaces in the backlog that have few startable tasks in the buffer. They share
 * one page. Each dispatcher reads its own share of the tasks.
 * @returns How many tasks were taken.
 */
export async function refillQueues(ctx: Context): Promise<number> {
  const needsTasks = (workspace: string) =>
    ctx.buffer.countOf(workspace) - ctx.hostQueues.blockedOf(workspace) < fewBuffered
  const readings = ctx.backlog.next(needsTasks, maxWorkspaces, ctx.clock.now())
  if (readings.length === 0) return 0
  const limit = Math.ceil(pageSize / readings.length)
  const share = ctx.share.current()
  const queries = readings.map(({ workspace, after, isWhole }) => {
    return { workspaceId: workspace, after, share: isWhole ? wholeShare : share }
  })
  const rows = await dueTasksOf(ctx.pool, queries, limit)
  if (ctx.stop.aborted) return 0
  const pages = new Map(readings.map(({ workspace }) => [workspace, [] as WaitingRow[]]))
  for (const row of rows) pages.get(row.workspaceId)?.push(row)
  let total = 0
  for (const { workspace, hadNoSpace } of readings) {
    const page = pages.get(workspace) ?? []
    const tasks = page.map(row => Object.assign(toIncomingTask(row), { isBacklog: hadNoSpace }))
    const count = admit(ctx, tasks)
    const last = page.length === limit ? (page.at(-1) ?? null) : null
    ctx.backlog.recordPage({ workspace, ...count, last }, ctx.clock.now())
    total += count.taken
  }
  ctx.metrics.refilled(total)
  return total
}
