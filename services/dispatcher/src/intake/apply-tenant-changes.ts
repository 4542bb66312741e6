import { toId } from '@belfry/domain/id'
import type { Context } from '../context.ts'
import { undoPrefetched } from './prefetch-claims.ts'
import { startAttempts } from './start-attempts.ts'

/**
 * Reads the tenants again, and applies what has changed. The tasks of a suspended workspace leave this process and stay in
 * PostgreSQL, claims that have not been sent are undone, and those in flight end. Once it is resumed, they are read again.
 */
export async function applyTenantChanges(ctx: Context): Promise<void> {
  const { suspended, resumed, moved } = await ctx.tenants.refresh(workspace => ctx.buffer.countOf(workspace) > 0)
  for (const workspace of moved) ctx.hostQueues.move(workspace)
  for (const workspace of resumed) ctx.backlog.add(workspace, ctx.clock.now())
  const changed = { suspended: suspended.map(id => toId('ws', id)), resumed: resumed.map(id => toId('ws', id)) }
  if (suspended.length + resumed.length > 0) ctx.log.info(changed, 'tenants.changed')
  if (suspended.length > 0) {
    const tasks = ctx.hostQueues.take(({ workspace }) => suspended.includes(workspace))
    for (const task of await undoPrefetched(ctx, tasks)) ctx.buffer.evict(task)
  }
  startAttempts(ctx)
}
