import { inTransaction } from './in-transaction.ts'
import type { Pool } from './pool.ts'

/**
 * Rejects when PostgreSQL accepts no writes, because its disk is full or it is read-only. A small change often fits into
 * space that a table already has. So this writes 200 KB to new files, which PostgreSQL removes at the end.
 */
export async function probeWrite(pool: Pool): Promise<void> {
  await inTransaction(pool, async tx => {
    await tx.query('CREATE TEMPORARY TABLE write_probe (filler text) ON COMMIT DROP')
    await tx.query(`INSERT INTO write_probe SELECT repeat('x', 1000) FROM generate_series(1, 200)`)
  })
}
