import { setTimeout as sleep } from 'node:timers/promises'
import { deleteCancelledTasks, deleteOldRuns, dropRunPartitions, type KeptLog, workspacesWithTasks } from '@belfry/db'
import type { Context } from './context.ts'

const batchSize = 1000
const workspacesPerPage = 500
// Between batches, so that deleting never takes more than a part of what the database can do.
const pauseMs = 50

/**
 * Deletes the runs and the finished tasks that are older than their organization's tier keeps them, workspace by
 * workspace in small batches, and drops the months that no tier keeps. A stop loses nothing but the place in the round:
 * the next one finds what is left.
 * @returns How many runs and cancelled tasks were deleted.
 */
export async function expireLog(ctx: Context, signal: AbortSignal): Promise<number> {
  let deleted = 0
  let after: string | null = null
  for (;;) {
    const page: KeptLog[] = await workspacesWithTasks(ctx.pool, ctx.tiers, after, workspacesPerPage)
    for (const { workspaceId, days } of page) {
      deleted += await inBatches(signal, () => deleteOldRuns(ctx.pool, workspaceId, days, batchSize))
      deleted += await inBatches(signal, () => deleteCancelledTasks(ctx.pool, workspaceId, days, batchSize))
      if (signal.aborted) return deleted
    }
    after = page.at(-1)?.workspaceId ?? null
    if (page.length < workspacesPerPage) break
  }
  const longest = Math.max(...Object.values(ctx.tiers).map(({ logDays }) => logDays))
  const months = await dropRunPartitions(ctx.pool, longest)
  if (deleted > 0 || months.length > 0) ctx.log.info({ deleted, months }, 'log.expired')
  return deleted
}

async function inBatches(signal: AbortSignal, run: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const count = await run()
    total += count
    if (count < batchSize || signal.aborted) return total
    await sleep(pauseMs, undefined, { signal }).catch(() => {}) // an aborted sleep is the end of the round
  }
}
