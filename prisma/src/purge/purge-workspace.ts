import { markPartsOfWorkspace } from '../log-parts/delete-parts.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { deletedLabels } from '../tasks/task-labels.ts'
import { storedRequestBytes, storedRunBytes } from '../usage/count-storage.ts'

const maxWorkspaces = 100

/** Finds deleted workspaces that are wound down and not purged. */
export async function workspacesToPurge(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM workspaces WHERE wound_down_at IS NOT NULL ORDER BY wound_down_at LIMIT ${maxWorkspaces}`,
  )
  return rows.map(({ id }) => id)
}

/**
 * Purges a batch of a deleted workspace: first its secrets and keys, then its runs and tasks, and at last the workspace
 * itself. The same transaction records the freed storage.
 * @param limit - The maximum number of runs, tasks and idempotency keys each.
 * @returns How many rows were deleted. Also 0 when another caller holds them, or usage deltas have not been folded.
 */
export async function purgeWorkspace(pool: Pool, workspaceId: string, limit: number): Promise<number> {
  return inTransaction(pool, async tx => {
    const text = 'SELECT FROM workspaces WHERE id = $1 AND wound_down_at IS NOT NULL FOR UPDATE SKIP LOCKED'
    if ((await tx.query(text, [workspaceId])).rowCount === 0) return 0
    let purged = 0
    purged += await run(tx, markPartsOfWorkspace, [workspaceId])
    for (const statement of small) purged += await run(tx, statement, [workspaceId])
    for (const statement of large) purged += await run(tx, statement, [workspaceId, limit])
    return purged > 0 ? purged : run(tx, whole, [workspaceId])
  })
}

async function run(tx: Transaction, text: string, values: unknown[]): Promise<number> {
  const { rows } = await tx.query<{ n: number }>(text, values)
  return rows[0]?.n ?? 0
}

// The data keys cascade to secrets, signing secrets, connections and integrations. The limits of a workspace bound all of these.
const small = [
  'data_keys',
  'api_keys',
  'federated_credentials',
  'subscriptions',
  'workspace_members',
  'bulk_operations',
  'failure_states',
  'failing_hosts',
  'resting_hosts',
].map(
  table => `
  WITH deleted AS (DELETE FROM ${table} WHERE workspace_id = $1 RETURNING 1)
  SELECT count(*)::int AS n FROM deleted`,
)

// In the order of the indexes (workspace_id, id), (workspace_id, state, id DESC) and (workspace_id, key). The retention
// deletes the same rows in another order, so SKIP LOCKED keeps each from waiting for the other.
const large = [
  `
  WITH deleted AS (
    DELETE FROM runs WHERE workspace_id = $1
      AND id IN (SELECT id FROM runs WHERE workspace_id = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING ${storedRunBytes} AS bytes
  ),
  recorded AS (
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
    DELETE FROM task_requests r USING deleted WHERE r.task_id = deleted.id
    RETURNING ${storedRequestBytes} AS bytes, r.task_id, r.labels
  ),
  ${deletedLabels('requests')},
  recorded AS (
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
  ...['run_changes', 'run_statistics', 'host_statistics'].map(
    table => `
  WITH deleted AS (
    DELETE FROM ${table} WHERE workspace_id = $1 AND ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE workspace_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1
  )
  SELECT count(*)::int AS n FROM deleted`,
  ),
]

// Usage deltas find their organization through the workspace, so its row stays until all deltas are folded. It also stays
// while another caller holds one of its rows, and until its parts of the log are gone from object storage.
const whole = `
  WITH deleted AS (
    DELETE FROM workspaces WHERE id = $1
      AND NOT EXISTS (SELECT FROM usage_changes WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM runs WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM tasks WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM idempotency_keys WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM run_changes WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM run_statistics WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM host_statistics WHERE workspace_id = $1)
      AND NOT EXISTS (SELECT FROM log_parts WHERE workspace_id = $1)
    RETURNING 1
  )
  SELECT count(*)::int AS n FROM deleted`
