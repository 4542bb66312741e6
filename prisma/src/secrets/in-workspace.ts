import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

/**
 * Runs statements in one transaction, one caller at a time for each workspace; null when there is no such workspace.
 * Deliveries and everything else that reads or refers to the workspace go on meanwhile.
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

/** Puts a change on record, in the transaction that makes it. */
export type OnRecord<Details = void> = (tx: Transaction, details: Details) => Promise<void>
