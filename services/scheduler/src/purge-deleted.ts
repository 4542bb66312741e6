import { setTimeout as sleep } from 'node:timers/promises'
import { purgeOrganizations } from '@belfry/db/purge/purge-organizations'
import { deleteEmptyWorkspace, purgeWorkspace, workspacesToPurge } from '@belfry/db/purge/purge-workspace'
import { windDownWorkspace, workspacesToWindDown } from '@belfry/db/purge/wind-down-workspace'
import { toId } from '@belfry/domain/id'
import type { Context } from './context.ts'
import { deleteOrphans } from './delete-orphans.ts'
import { drain, takeTurns } from './drain.ts'

/**
 * Cancels the planned tasks and cron jobs of deleted workspaces, in batches and round-robin, so a big one does not delay
 * the others.
 * @returns How many tasks and cron jobs were ended.
 */
export async function windDownWorkspaces(ctx: Context, signal: AbortSignal): Promise<number> {
  return takeTurns(signal, await workspacesToWindDown(ctx.pool), async workspaceId => {
    const ended = await windDownWorkspace(ctx.pool, workspaceId)
    if (ended > 0) ctx.log.info({ workspace: toId('ws', workspaceId), ended }, 'workspace.winding_down')
    return ended
  })
}

const batchSize = 1000
// Between batches, so purging uses only a part of the database's capacity.
const pauseMs = 50

/**
 * Removes the data of deleted workspaces and organizations, in batches and round-robin, so a big one does not delay the
 * others. A workspace stays until its objects of the log are gone.
 * @returns How many rows were removed.
 */
export async function purgeDeleted(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  try {
    total = await takeTurns(signal, await workspacesToPurge(ctx.pool), id => purge(ctx, signal, id))
  } finally {
    total += await drain(signal, batchSize, async limit => {
      const ids = await purgeOrganizations(ctx.pool, limit)
      for (const id of ids) ctx.log.info({ organization: toId('org', id) }, 'organization.purged')
      return ids.length
    })
  }
  return total
}

async function purge(ctx: Context, signal: AbortSignal, workspaceId: string): Promise<number> {
  const workspace = toId('ws', workspaceId)
  const purged = await purgeWorkspace(ctx.pool, workspaceId, batchSize)
  if (purged === 0) {
    await deleteOrphans(ctx, signal, `${workspace}/`)
    return signal.aborted ? 0 : deleteEmptyWorkspace(ctx.pool, workspaceId)
  }
  ctx.log.info({ workspace, purged }, 'workspace.purging')
  await sleep(pauseMs, undefined, { signal }).catch(() => {}) // an aborted sleep ends the round
  return purged
}
