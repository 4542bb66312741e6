import { inTransaction } from './in-transaction.ts'
import type { Pool } from './pool.ts'

/**
 * Rejects when PostgreSQL cannot write, because its disk is full or it is read-only. A small change often fits into the
 * free space of a table. So this writes 200 KB to new files; PostgreSQL removes them at the end.
 */
export async function probeWrite(pool: Pool): Promise<void> {
  await inTransaction(pool, async tx => {
    await tx.query('CREATE TEMPORARY TABLE write_probe (filler text) ON COMMIT DROP')
    await tx.query(`INSERT INTO write_probe SELECT repeat('x', 1000) FROM generate_series(1, 200)`)
  })
}
