import type { Context } from './context.ts'

const monthsAhead = 3

/** Makes the partitions for the runs of this month and of the next three. */
export async function prepareRunPartitions(ctx: Context): Promise<void> {
  await ctx.pool.query('SELECT create_run_partitions($1)', [monthsAhead])
}
