import { isLockTimeout, isStatementTimeout } from '../postgres/database-errors.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

/** For how long a change of the partitions of `runs` may keep others waiting: each of its statements is cut then. */
const maxStallMs = 100

/**
 * Runs statements that take locks which others wait behind. Returns null, with nothing changed, when a lock could not be
 * had at once: because a transaction reads `runs` for long, or another caller is changing its partitions.
 */
export async function inBriefTransaction<T>(pool: Pool, run: (tx: Transaction) => Promise<T>): Promise<T | null> {
  try {
    return await inTransaction(pool, async tx => {
      const lock = `SELECT pg_try_advisory_xact_lock(hashtext('create_run_partitions')) AS "isMine"`
      const { rows } = await tx.query<{ isMine: boolean }>(lock)
      if (!rows[0]?.isMine) return null
      await tx.query(`SET LOCAL lock_timeout = ${maxStallMs}; SET LOCAL statement_timeout = ${maxStallMs}`)
      return run(tx)
    })
  } catch (error) {
    if (isLockTimeout(error) || isStatementTimeout(error)) return null
    throw error
  }
}
