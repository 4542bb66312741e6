import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

const maxWorkspaces = 100

/** The deleted workspaces that have nothing left to end, and are still there. */
export async function workspacesToPurge(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM workspaces WHERE wound_down_at IS NOT NULL ORDER BY wound_down_at LIMIT ${maxWorkspaces}`,
  )
  return rows.map(({ id }) => id)
}

/**
 * Deletes up to `limit` of each kind of what a deleted workspace has left: its secrets and keys first, then its runs and
 * tasks, and at last the workspace itself. The bytes are recorded as storage given back, in the same
 * transaction.
 * @returns How many rows went; 0 also when another caller holds them, or its last usage changes have not been folded.
 */
export async function purgeWorkspace(pool: Pool, workspaceId: string, limit: number): Promise<number> {
  return inTransaction(pool, async tx => {
    const text = 'SELECT FROM workspaces WHERE id = $1 AND wound_down_at IS NOT NULL FOR UPDATE SKIP LOCKED'
    if ((await tx.query(text, [workspaceId])).rowCount === 0) return 0
    let purged = 0
    for (const statement of few) purged += await run(tx, statement, [workspaceId])
    for (const statement of many) purged += await run(tx, statement, [workspaceId, limit])
    return purged > 0 ? purged : run(tx, whole, [workspaceId])
  })
}

async function run(tx: Transaction, text: string, values: unknown[]): Promise<number> {
  const { rows } = await tx.query<{ n: number }>(text, values)
  return rows[0]?.n ?? 0
}

// With the data keys go secrets, signing secrets and integrations. All of these are bounded by what a workspace may have.
const few = [
  'data_keys',
  'api_keys',
  'subscriptions',
  'workspace_members',
  'dead_letter_operations',
  'resting_hosts',
].map(
  table => `
  WITH deleted AS (DELETE FROM ${table} WHERE workspace_id = $1 RETURNING 1)
  SELECT count(*)::int AS n FROM deleted`,
)

// In the order of the indexes (workspace_id, id), (workspace_id, state, id DESC) and (workspace_id, key). The expiry of the
// log deletes the same rows in another order, so neither waits for the other.
const many = [
  `
  WITH deleted AS (
    DELETE FROM runs WHERE workspace_id = $1
      AND id IN (SELECT id FROM runs WHERE workspace_id = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING octet_length(response_body) AS bytes
  ),
  noted AS (
    INSERT INTO usage_changes (workspace_id, storage_bytes) SELECT $1, -sum(bytes) FROM deleted HAVING sum(bytes) > 0
  )
  SELECT count(*)::int AS n FROM deleted`,
  `
  WITH deleted AS (
    DELETE FROM tasks
    WHERE id IN (SELECT id FROM tasks WHERE workspace_id = $1 ORDER BY state, id DESC LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING id
  ),
  requests AS (
    DELETE FROM task_requests r USING deleted WHERE r.task_id = deleted.id RETURNING octet_length(r.payload) AS bytes
  ),
  noted AS (
    INSERT INTO usage_changes (workspace_id, storage_bytes) SELECT $1, -sum(bytes) FROM requests HAVING sum(bytes) > 0
  )
  SELECT count(*)::int AS n FROM deleted`,
  `
  WITH deleted AS (
    DELETE FROM idempotency_keys WHERE workspace_id = $1
      AND key IN (SELECT key FROM idempotency_keys WHERE workspace_id = $1 ORDER BY key LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING 1
  )
  SELECT count(*)::int AS n FROM deleted`,
]

// Usage changes find their organization by way of the workspace, so the row stays until all of them have been folded. It
// also stays while another caller holds something of it.
const whole = `
  WITH deleted AS (
    DELETE FROM workspaces WHERE id = $1
      AND NOT EXISTS (SELECT FROM usage_changes WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM runs WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM tasks WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM idempotency_keys WHERE workspace_id = $1)
    RETURNING 1
  )
  SELECT count(*)::int AS n FROM deleted`
