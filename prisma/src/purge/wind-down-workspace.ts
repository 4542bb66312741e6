import type { StateReason } from '@belfry/domain/task-state'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

const batchSize = 500

// An API process that has cached a key of the workspace may store tasks for some seconds after the deletion.
const settledAfter = `interval '1 minute'`

const reason: StateReason = 'workspace_deleted'

/** The deleted workspaces that still have planned tasks or cron jobs. */
export const workspacesWithWork = 'SELECT id FROM workspaces WHERE deleted_at IS NOT NULL AND wound_down_at IS NULL'

/** Finds deleted workspaces that have, or may still get, cron jobs or tasks. */
export async function workspacesToWindDown(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(`${workspacesWithWork} ORDER BY deleted_at`)
  return rows.map(({ id }) => id)
}

/**
 * Deletes a batch of the cron jobs of a deleted workspace, and cancels a batch of its waiting tasks. This is not
 * urgent, because the claim refuses tasks of a deleted workspace.
 * @returns How many cron jobs and tasks. Also 0 when another scheduler holds the workspace.
 */
export async function windDownWorkspace(pool: Pool, workspaceId: string): Promise<number> {
  return inTransaction(pool, async tx => {
    const { rows } = await tx.query<{ isSettled: boolean }>(
      `SELECT deleted_at < clock_timestamp() - ${settledAfter} AS "isSettled" FROM workspaces
       WHERE id = $1 AND deleted_at IS NOT NULL AND wound_down_at IS NULL FOR UPDATE SKIP LOCKED`,
      [workspaceId],
    )
    if (!rows[0]) return 0
    const cronJobs = await removeCronJobs(tx, workspaceId)
    const pending = await cancelTasks(tx, workspaceId, 'pending')
    const retrying = await cancelTasks(tx, workspaceId, 'retrying')
    const ended = cronJobs + pending + retrying
    if (ended === 0 && rows[0].isSettled) await markWoundDown(tx, workspaceId)
    return ended
  })
}

async function removeCronJobs(tx: Transaction, workspaceId: string): Promise<number> {
  const text = `
    DELETE FROM cron_jobs WHERE workspace_id = $1 AND id IN (
      SELECT id FROM cron_jobs WHERE workspace_id = $1 ORDER BY id LIMIT ${batchSize} FOR UPDATE SKIP LOCKED
    )`
  return (await tx.query(text, [workspaceId])).rowCount ?? 0
}

// One state at a time, in the order of the index (workspace_id, state, id): otherwise the planner may scan all due work.
async function cancelTasks(tx: Transaction, workspaceId: string, state: 'pending' | 'retrying'): Promise<number> {
  const text = `
    UPDATE tasks SET state = 'cancelled', state_reason = $3, finished_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE id IN (
      SELECT id FROM tasks WHERE workspace_id = $1 AND state = $2::task_state
      ORDER BY id DESC LIMIT ${batchSize} FOR UPDATE SKIP LOCKED
    )`
  return (await tx.query(text, [workspaceId, state, reason])).rowCount ?? 0
}

async function markWoundDown(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query(
    `UPDATE workspaces SET wound_down_at = now() WHERE id = $1 AND NOT EXISTS (
       SELECT FROM tasks WHERE workspace_id = $1 AND state IN ('pending', 'processing', 'retrying')
     )`,
    [workspaceId],
  )
}
