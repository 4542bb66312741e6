import type { Pool } from '../postgres/pool.ts'
import { inBriefTransaction } from './brief-transaction.ts'

/**
 * Drops the partitions of months that ended more than `days` ago and whose runs have been deleted. One that still has
 * some is left to the next time: with a run goes its task, and its bytes go from the storage. So is one that a long
 * transaction keeps from being dropped at once.
 * @returns The names of those dropped.
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

// A month that is over and empty gets no more runs: the id of a run is as old as its claim.
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
