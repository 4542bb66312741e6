import { markPartsOfWorkspace } from '../log-parts/delete-parts.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { deletedRequests, freedStorage, storedRunBytes } from '../usage/count-storage.ts'

export async function workspacesToPurge(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT id FROM workspaces WHERE wound_down_at IS NOT NULL ORDER BY wound_down_at',
  )
  return rows.map(({ id }) => id)
}

/**
 * Purges a batch of a deleted workspace: first its secrets and keys, then its runs and tasks. The same transaction
 * records the freed storage.
 * @param limit - The maximum number of runs, tasks and idempotency keys each.
 * @returns How many rows were deleted. Also 0 when another caller holds them.
 */
export async function purgeWorkspace(pool: Pool, workspaceId: string, limit: number): Promise<number> {
  return inTransaction(pool, async tx => {
    const text = 'SELECT FROM workspaces WHERE id = $1 AND wound_down_at IS NOT NULL FOR UPDATE SKIP LOCKED'
    if ((await tx.query(text, [workspaceId])).rowCount === 0) return 0
    let purged = 0
    for (const statement of [markPartsOfWorkspace, ...small]) purged += await run(tx, statement, [workspaceId])
    for (const statement of large) purged += await run(tx, statement, [workspaceId, limit])
    return purged
  })
}

// Each statement returns or deletes one row for each row that it purges.
async function run(tx: Transaction, text: string, values: unknown[]): Promise<number> {
  return (await tx.query(text, values)).rowCount ?? 0
}

// The data keys cascade to secrets, signing secrets, connections and integrations. The limits of a workspace bound all
// of these.
const small = [
  ...['data_keys', 'api_keys', 'federated_credentials', 'subscriptions', 'workspace_members', 'bulk_operations'],
  ...['failure_states', 'failing_hosts', 'resting_hosts'],
].map(table => `DELETE FROM ${table} WHERE workspace_id = $1`)

// In the order of the indexes (workspace_id, id), (workspace_id, state, id DESC) and (workspace_id, key). The retention
// deletes the same rows in another order, so SKIP LOCKED keeps each from waiting for the other.
const large = [
  `
  WITH deleted AS (
    DELETE FROM runs WHERE workspace_id = $1
      AND id IN (SELECT id FROM runs WHERE workspace_id = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING ${storedRunBytes} AS bytes
  ),
  ${freedStorage('deleted')}
  SELECT FROM deleted`,
  `
  WITH deleted AS (
    DELETE FROM tasks
    WHERE id IN (SELECT id FROM tasks WHERE workspace_id = $1 ORDER BY state, id DESC LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING id
  ),
  ${deletedRequests('deleted')},
  ${freedStorage('requests')}
  SELECT FROM deleted`,
  `
  DELETE FROM idempotency_keys WHERE workspace_id = $1
    AND key IN (SELECT key FROM idempotency_keys WHERE workspace_id = $1 ORDER BY key LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  ...['run_changes', 'run_statistics', 'host_statistics'].map(
    table => `
  DELETE FROM ${table} WHERE workspace_id = $1 AND ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE workspace_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED
  ))`,
  ),
]

// Usage deltas find their organization through the workspace, so its row stays until all deltas are folded. It also stays
// while another caller holds one of its rows, and until its parts of the log are gone from object storage.
const remaining = [
  ...['usage_changes', 'runs', 'tasks', 'idempotency_keys', 'run_changes', 'run_statistics', 'host_statistics'],
  'log_parts',
].map(table => `AND NOT EXISTS (SELECT FROM ${table} WHERE workspace_id = $1)`)

/** Deletes a purged workspace itself, unless rows of it remain. Returns how many: 0 or 1. */
export async function deleteEmptyWorkspace(pool: Pool, workspaceId: string): Promise<number> {
  const text = `
    DELETE FROM workspaces WHERE id = $1 AND wound_down_at IS NOT NULL
      ${remaining.join('\n      ')}`
  return (await pool.query(text, [workspaceId])).rowCount ?? 0
}
