import { inTransaction } from '../in-transaction.ts'
import type { Pool } from '../pool.ts'

/**
 * Drops the partitions of months that ended more than `days` ago and whose runs have been deleted. One that still has
 * some is left to the next time: with a run goes its task, and its bytes go from the storage.
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

// The lock on the whole of runs is waited for but briefly: whoever records waits behind it.
async function dropEmpty(pool: Pool, name: string): Promise<boolean> {
  return inTransaction(pool, async tx => {
    const lock = `SELECT pg_try_advisory_xact_lock(hashtext('drop_run_partitions')) AS "isMine"`
    const { rows: locked } = await tx.query<{ isMine: boolean }>(lock)
    const exists = await tx.query(`SELECT FROM pg_class WHERE oid = to_regclass($1)`, [`run_partitions.${name}`])
    if (!locked[0]?.isMine || exists.rows.length === 0) return false
    const { rows: left } = await tx.query(`SELECT FROM run_partitions.${name} LIMIT 1`)
    if (left.length > 0) return false
    await tx.query(`SET LOCAL lock_timeout = '500ms'`)
    await tx.query(`ALTER TABLE runs DETACH PARTITION run_partitions.${name}`)
    await tx.query(`DROP TABLE run_partitions.${name}`)
    return true
  })
}
