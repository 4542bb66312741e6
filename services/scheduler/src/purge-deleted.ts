import { setTimeout as sleep } from 'node:timers/promises'
import { purgeOrganizations } from '@belfry/db/purge/purge-organizations'
import { purgeWorkspace, workspacesToPurge } from '@belfry/db/purge/purge-workspace'
import { windDownWorkspace, workspacesToWindDown } from '@belfry/db/purge/wind-down-workspace'
import { toId } from '@belfry/domain/id'
import type { Context } from './context.ts'
import { deleteOrphans } from './delete-orphans.ts'

/**
 * Cancels the planned tasks and cron jobs of deleted workspaces, in batches and round-robin, so a big one does not delay
 * the others.
 * @returns How many tasks and cron jobs were ended.
 */
export async function windDownWorkspaces(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  let open = await workspacesToWindDown(ctx.pool)
  while (open.length > 0 && !signal.aborted) {
    const unfinished: string[] = []
    for (const workspaceId of open) {
      const ended = await windDownWorkspace(ctx.pool, workspaceId)
      if (ended === 0) continue
      total += ended
      unfinished.push(workspaceId)
      ctx.log.info({ workspace: toId('ws', workspaceId), ended }, 'workspace.winding_down')
    }
    open = unfinished
  }
  return total
}

const batchSize = 1000
// Between batches, so purging uses only a part of the database's capacity.
const pauseMs = 50

/**
 * Removes the data of deleted workspaces and organizations, in batches and round-robin, so a big one does not delay the
 * others. One call purges up to 100 workspaces.
 * @returns How many rows were removed.
 */
export async function purgeDeleted(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  let open = await workspacesToPurge(ctx.pool)
  for (const workspaceId of open) await deleteOrphans(ctx, signal, `${toId('ws', workspaceId)}/`)
  while (open.length > 0 && !signal.aborted) {
    const unfinished: string[] = []
    for (const workspaceId of open) {
      const purged = await purgeWorkspace(ctx.pool, workspaceId, batchSize)
      if (purged === 0) continue
      total += purged
      unfinished.push(workspaceId)
      ctx.log.info({ workspace: toId('ws', workspaceId), purged }, 'workspace.purging')
      await sleep(pauseMs, undefined, { signal }).catch(() => {}) // an aborted sleep ends the round
      if (signal.aborted) return total
    }
    open = unfinished
  }
  for (;;) {
    const organizations = await purgeOrganizations(ctx.pool, batchSize)
    for (const id of organizations) ctx.log.info({ organization: toId('org', id) }, 'organization.purged')
    total += organizations.length
    if (organizations.length < batchSize || signal.aborted) return total
  }
}
