import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

/**
 * Runs statements in one transaction that excludes other callers for the same workspace. Returns null when there is no such
 * workspace. The lock does not block deliveries, or anything else that only reads or refers to the workspace.
 */
export async function inWorkspace<T>(
  pool: Pool,
  workspaceId: string,
  run: (tx: Transaction) => Promise<T>,
): Promise<T | null> {
  return inTransaction(pool, async tx => {
    const text = 'SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE'
    const { rowCount } = await tx.query(text, [workspaceId])
    return rowCount === 1 ? run(tx) : null
  })
}

/** Records a change in the audit log, in the transaction that makes it. */
export type OnRecord<Details = void> = (tx: Transaction, details: Details) => Promise<void>
