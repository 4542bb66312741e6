import { newUuid } from '@belfry/domain/id'
import type { BulkOperation as StoredOperation } from '../generated/client.ts'
import type { BulkAction } from '../generated/enums.ts'
import type { Db } from '../postgres/in-transaction.ts'
import { type EndAction, endedState } from '../tasks/end-tasks.ts'
import { countMatchingTasks, isIn, type TaskFilter } from '../tasks/task-filter.ts'
import { isDeadLetter, isUnsettledCancel } from '../tasks/task-row.ts'

export type BulkRequest = {
  action: BulkAction
  filter: TaskFilter
  /** How many replays are due per second; null: all at once. */
  perSecond: number | null
}

/** A cancel, a stop, a replay or a discard of many tasks that runs in the background. */
export type BulkOperation = BulkRequest &
  Pick<StoredOperation, 'id' | 'workspaceId' | 'cancelled' | 'createdAt' | 'updatedAt' | 'finishedAt'> & {
    /** How many tasks matched at the start, of the first `maxScannedTasks`; at least `done`. */
    total: number
    /** How many tasks it has ended or settled so far. */
    done: number
  }

/** Returns whether an action ends tasks. The others settle dead letters. */
export function isEnding(action: BulkAction): action is EndAction {
  return action === 'cancel' || action === 'stop'
}

/** Returns the SQL: an action may apply to the task `t`. A replay by reason includes cancelled tasks. */
export function openTo(action: BulkAction, { state_reason: reasons }: TaskFilter = {}): string {
  if (isEnding(action)) return isIn(endedState[action])
  return action === 'replay' && reasons ? `(${isDeadLetter} OR ${isUnsettledCancel})` : isDeadLetter
}

/**
 * SQL: the attempt of a task `t` may start, or its claim may be undone. A cancel or a stop waits until that is decided,
 * so it reads these tasks in one snapshot with those that it may end. Nothing decides it for held tasks before their release.
 */
export const isPrefetched = `t.state = 'processing' AND t.waits_for = 0 AND t.prefetched`

export const columns = `id, workspace_id AS "workspaceId", action, filter, per_second AS "perSecond", total, done, cancelled,
  created_at AS "createdAt", updated_at AS "updatedAt", finished_at AS "finishedAt"`

/**
 * Starts an operation. A workspace ends tasks in one at a time, and settles dead letters in one at a time, so it returns the
 * running one if there is one.
 */
export async function startBulkOperation(db: Db, workspaceId: string, { action, filter, perSecond }: BulkRequest) {
  const { count: total } = await countMatchingTasks(db, workspaceId, openTo(action, filter), filter)
  const text = `
    WITH started AS (
      INSERT INTO bulk_operations (id, workspace_id, action, filter, per_second, total) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT DO NOTHING
      RETURNING *
    )
    SELECT ${columns} FROM started
    UNION ALL
    SELECT ${columns} FROM bulk_operations
    WHERE workspace_id = $2 AND finished_at IS NULL AND (action IN ('cancel', 'stop')) = ($3 IN ('cancel', 'stop'))`
  for (;;) {
    const id = newUuid()
    const { rows } = await db.query<BulkOperation>(text, [id, workspaceId, action, filter, perSecond, total])
    if (rows[0]) return { ...rows[0], isNew: rows[0].id === id } // no row when the other one started or ended during this statement
  }
}

export async function findBulkOperation(db: Db, workspaceId: string, id: string): Promise<BulkOperation | undefined> {
  const text = `SELECT ${columns} FROM bulk_operations WHERE id = $1 AND workspace_id = $2`
  return (await db.query<BulkOperation>(text, [id, workspaceId])).rows[0]
}

/** Lists up to `limit` operations of a workspace with some actions, newest first, after the one with the id `after`. */
export async function listBulkOperations(
  db: Db,
  workspaceId: string,
  actions: readonly BulkAction[],
  { after, limit }: { after: string | undefined; limit: number },
): Promise<BulkOperation[]> {
  const text = `
    SELECT ${columns} FROM bulk_operations
    WHERE workspace_id = $1 AND action = ANY ($2::bulk_action[]) AND ($3::uuid IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`
  return (await db.query<BulkOperation>(text, [workspaceId, actions, after, limit])).rows
}

/**
 * Cancels an operation. What it has done stays done. Returns undefined when it has ended already, or the workspace has no such
 * operation.
 */
export async function cancelBulkOperation(db: Db, workspaceId: string, id: string): Promise<BulkOperation | undefined> {
  const text = `
    UPDATE bulk_operations SET cancelled = true, finished_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE id = $1 AND workspace_id = $2 AND finished_at IS NULL
    RETURNING ${columns}`
  return (await db.query<BulkOperation>(text, [id, workspaceId])).rows[0]
}
