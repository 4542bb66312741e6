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

/** Counts the rows of a workspace in a table, and finds the id of the one with a name; null when there is none. */
export async function countNamed(tx: Transaction, table: 'secrets' | 'connections', workspaceId: string, name: string) {
  const text = `
    SELECT count(*)::int AS total, (array_agg(id) FILTER (WHERE name = $2))[1] AS existing
    FROM ${table} WHERE workspace_id = $1`
  const { rows } = await tx.query<{ total: number; existing: string | null }>(text, [workspaceId, name])
  return rows[0] ?? { total: 0, existing: null }
}

/** Records a change in the audit log, in the transaction that makes it. */
export type OnRecord<Details = void> = (tx: Transaction, details: Details) => Promise<void>
