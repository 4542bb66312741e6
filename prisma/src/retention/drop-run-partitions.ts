import type { Pool } from '../postgres/pool.ts'
import { inBriefTransaction } from './brief-transaction.ts'

/**
 * Drops the empty partitions of months that ended more than `days` ago. A partition with runs stays until `deleteOldRuns`
 * has deleted them, with their tasks and their storage. So does a partition that a long transaction reads.
 * @returns The names of the dropped partitions.
 */
export async function dropRunPartitions(pool: Pool, days: number): Promise<string[]> {
  const text = `
    SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'runs'::regclass AND relname ~ '^runs_\\d{4}_\\d{2}$'
      AND to_date(right(relname, 7), 'YYYY_MM') + interval '1 month' < (now() - $1 * interval '1 day') AT TIME ZONE 'UTC'
    ORDER BY relname`
  const { rows } = await pool.query<{ name: string }>(text, [days])
  const dropped: string[] = []
  for (const { name } of rows) if (await dropEmpty(pool, name)) dropped.push(name)
  return dropped
}

// An empty past month gets no more runs, because the id of a run is as old as its claim.
async function dropEmpty(pool: Pool, name: string): Promise<boolean> {
  const { rows: left } = await pool.query(`SELECT FROM run_partitions.${name} LIMIT 1`)
  if (left.length > 0) return false
  const isDropped = await inBriefTransaction(pool, async tx => {
    const exists = await tx.query(`SELECT FROM pg_class WHERE oid = to_regclass($1)`, [`run_partitions.${name}`])
    if (exists.rows.length === 0) return false
    await tx.query(`ALTER TABLE runs DETACH PARTITION run_partitions.${name}`)
    await tx.query(`DROP TABLE run_partitions.${name}`)
    return true
  })
  return isDropped === true
}
