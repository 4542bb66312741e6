import { takeCircuitResets } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import { startAttempts } from './admit.ts'

/**
 * Ends the rests of hosts that an operator has asked to end.
 * @returns How many there were.
 */
export async function resetHosts(ctx: Context): Promise<number> {
  if (ctx.lines.resting().length === 0) return 0
  const resets = await takeCircuitResets(ctx.pool, ctx.dispatcher.id)
  for (const { workspaceId: workspace, host } of resets) {
    ctx.lines.reset({ workspace, host })
    ctx.log.info({ host, workspace: toId('ws', workspace) }, 'host.reset')
  }
  if (resets.length > 0) startAttempts(ctx)
  return resets.length
}
