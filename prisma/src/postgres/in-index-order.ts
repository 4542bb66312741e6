import { type Db, inTransaction } from './in-transaction.ts'

// With outdated statistics, or many dead entries in the index of due work, the planner would read all due tasks and sort
// them for each page.
export const inIndexOrder = ['sort', 'incremental_sort', 'bitmapscan']
  .map(path => `SET LOCAL enable_${path} = off`)
  .join('; ')

/**
 * Runs a query in the order of an index, regardless of the statistics. An open transaction has to have set `inIndexOrder`.
 */
export async function queryInIndexOrder<Row extends object>(
  db: Db,
  query: { name: string; text: string; values: unknown[] },
): Promise<Row[]> {
  return inTransaction(db, async tx => (await tx.query<Row>(query)).rows, inIndexOrder)
}
