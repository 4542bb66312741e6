import { windDownWorkspace, workspacesToWindDown } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from './context.ts'

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
