import { windDownWorkspace, workspacesToWindDown } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from './context.ts'

/**
 * Ends what deleted workspaces had planned, batch by batch and in turns, so that a big one does not hold up the others.
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
