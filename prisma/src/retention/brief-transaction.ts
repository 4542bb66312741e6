import { isLockTimeout, isStatementTimeout } from '../postgres/database-errors.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

/** How long each statement on the partitions of `runs` may block other transactions. */
const maxStallMs = 100

/**
 * Runs statements whose locks block other transactions. Returns false, with nothing changed, when a lock is not available
 * within 100 ms: a long transaction reads `runs`, or another caller is changing its partitions.
 */
export async function inBriefTransaction(pool: Pool, run: (tx: Transaction) => Promise<boolean>): Promise<boolean> {
  try {
    return await inTransaction(pool, async tx => {
      if (!(await lockPartitions(tx))) return false
      await tx.query(`SET LOCAL lock_timeout = ${maxStallMs}; SET LOCAL statement_timeout = ${maxStallMs}`)
      return run(tx)
    })
  } catch (error) {
    if (isLockTimeout(error) || isStatementTimeout(error)) return false
    throw error
  }
}

/** Locks the partitions of `runs` against other callers until the transaction ends. Returns false when another one has them. */
export async function lockPartitions(tx: Transaction): Promise<boolean> {
  const text = `SELECT pg_try_advisory_xact_lock(hashtext('create_run_partitions')) AS "isMine"`
  return (await tx.query<{ isMine: boolean }>(text)).rows[0]?.isMine === true
}
