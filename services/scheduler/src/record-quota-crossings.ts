import { recordQuotaCrossings as record } from '@belfry/db'
import type { Context } from './context.ts'

/**
 * Notes which organizations have used up 80 % or all of a quota.
 * @returns How many crossings were new.
 */
export async function recordQuotaCrossings(ctx: Context): Promise<number> {
  const crossings = await record(ctx.pool, ctx.tiers)
  ctx.metrics.quotaCrossings(crossings)
  if (crossings > 0) ctx.log.info({ crossings }, 'quota.crossed')
  return crossings
}
