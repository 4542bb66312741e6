import { inTransaction } from './in-transaction.ts'
import type { Pool } from './pool.ts'

// Where many tasks have come since the last statistics, or dead entries fill the index of due work, the planner would read
// all that is due and sort it for each page.
export const inIndexOrder = ['sort', 'incremental_sort', 'bitmapscan']
  .map(path => `SET LOCAL enable_${path} = off`)
  .join('; ')

/** Runs a query along the order of an index, whatever the statistics say. */
export async function queryInIndexOrder<Row extends object>(
  pool: Pool,
  query: { name: string; text: string; values: unknown[] },
): Promise<Row[]> {
  return inTransaction(pool, async tx => (await tx.query<Row>(query)).rows, inIndexOrder)
}
