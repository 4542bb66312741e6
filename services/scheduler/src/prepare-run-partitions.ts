import { prepareRunPartitions as prepare } from '@belfry/db'
import type { Context } from './context.ts'

const monthsAhead = 3

/** Makes the partitions for the runs of this month and of the next three, or those that can be made without a wait. */
export async function prepareRunPartitions(ctx: Context): Promise<void> {
  const { made, missing } = await prepare(ctx.pool, monthsAhead)
  if (made.length > 0) ctx.log.info({ months: made }, 'run_partitions.made')
  if (missing.length > 0) ctx.log.warn({ months: missing }, 'run_partitions.missing')
}
