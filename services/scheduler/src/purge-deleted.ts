import { setTimeout as sleep } from 'node:timers/promises'
import { purgeOrganizations, purgeWorkspace, workspacesToPurge } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from './context.ts'

const batchSize = 1000
// Between batches, so that purging never takes more than a part of what the database can do.
const pauseMs = 50

/**
 * Removes what deleted workspaces and organizations have left, in batches and round-robin, so that a big one does not
 * delay the others. A hundred workspaces are purged in one call, the next ones in the next.
 * @returns How many rows were removed.
 */
export async function purgeDeleted(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  let open = await workspacesToPurge(ctx.pool)
  while (open.length > 0 && !signal.aborted) {
    const unfinished: string[] = []
    for (const workspaceId of open) {
      const purged = await purgeWorkspace(ctx.pool, workspaceId, batchSize)
      if (purged === 0) continue
      total += purged
      unfinished.push(workspaceId)
      ctx.log.info({ workspace: toId('ws', workspaceId), purged }, 'workspace.purging')
      await sleep(pauseMs, undefined, { signal }).catch(() => {}) // an aborted sleep is the end of the round
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
