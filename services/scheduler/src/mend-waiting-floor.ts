import { mendWaitingFloor } from '@belfry/db'
import type { Context } from './context.ts'

/**
 * Looks for waiting work before the floor, which only a process of the previous release or a change by hand leaves there.
 * It walks over everything that has finished since the last vacuum, so it is done rarely.
 */
export async function mendFloor(ctx: Context): Promise<void> {
  const dueAt = await mendWaitingFloor(ctx.pool)
  if (dueAt !== null) ctx.log.warn({ dueAt: dueAt.toISOString() }, 'waiting_floor.lowered')
}
