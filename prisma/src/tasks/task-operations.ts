import { newUuid } from '@belfry/domain/id'
import { type Db, inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { type EndAction, endedState, endTasks } from './end-tasks.ts'
import { countMatchingTasks, matchesFilter, type TaskFilter, valuesOfFilter } from './task-filter.ts'

/** A cancel or a stop of many tasks that runs in the background. */
export type TaskOperation = {
  id: string
  workspaceId: string
  action: EndAction
  filter: TaskFilter
  /** How many tasks matched at the start, of the first `maxScannedTasks`; at least `ended`. */
  total: number
  /** How many it has ended so far. */
  ended: number
  cancelled: boolean
  createdAt: Date
  updatedAt: Date
  finishedAt: Date | null
}

// An id contains the clock of the process that made it, so it says where the walk is, and not what was created when.
const aboveAllIds = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const columns = `id, workspace_id AS "workspaceId", action, filter, total, ended, cancelled,
  created_at AS "createdAt", updated_at AS "updatedAt", finished_at AS "finishedAt"`

/** Starts an operation. A workspace has one at a time, so it returns the running one if there is one. */
export async function startTaskOperation(
  db: Db,
  workspaceId: string,
  action: EndAction,
  filter: TaskFilter,
): Promise<TaskOperation & { isNew: boolean }> {
  const { count: total } = await countMatchingTasks(db, workspaceId, [endedState[action]], filter)
  const text = `
    WITH started AS (
      INSERT INTO task_operations (id, workspace_id, action, total, cursor, filter) VALUES ($1, $2, $3, $4, '${aboveAllIds}', $5)
      ON CONFLICT (workspace_id) WHERE finished_at IS NULL DO NOTHING
      RETURNING *
    )
    SELECT ${columns} FROM started
    UNION ALL
    SELECT ${columns} FROM task_operations WHERE workspace_id = $2 AND finished_at IS NULL`
  for (;;) {
    const id = newUuid()
    const { rows } = await db.query<TaskOperation>(text, [id, workspaceId, action, total, filter])
    if (rows[0]) return { ...withTimes(rows[0]), isNew: rows[0].id === id } // no row when the other one started or ended during this statement
  }
}

/** Reads an operation of a workspace. */
export async function findTaskOperation(db: Db, workspaceId: string, id: string): Promise<TaskOperation | undefined> {
  const text = `SELECT ${columns} FROM task_operations WHERE id = $1 AND workspace_id = $2`
  const { rows } = await db.query<TaskOperation>(text, [id, workspaceId])
  return rows[0] && withTimes(rows[0])
}

/** Cancels an operation. Tasks that it has ended stay ended. Returns false when no such operation is running. */
export async function cancelTaskOperation(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const text = `
    UPDATE task_operations SET cancelled = true, finished_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE id = $1 AND workspace_id = $2 AND finished_at IS NULL`
  const { rowCount } = await db.query(text, [id, workspaceId])
  return rowCount === 1
}

/** `taskIds`: the tasks that matched. `isWaiting`: prefetched tasks match, and it is not decided whether their attempts start. */
export type TaskOperationStep = { ended: number; taskIds: string[]; isWaiting: boolean }

/**
 * Advances the least recently advanced operation: reads the next `limit` tasks of its workspace and ends those that match.
 * One transaction also stores the position, so an operation survives the death of a scheduler, and any number of schedulers
 * may call this at once. At the end it begins again while prefetched tasks match. Returns null when no operation is open.
 */
export async function stepTaskOperation(pool: Pool, limit: number): Promise<TaskOperationStep | null> {
  return inTransaction(pool, async tx => {
    const text = `
      SELECT ${columns}, cursor FROM task_operations WHERE finished_at IS NULL AND held_at IS NULL
      ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED`
    const { rows } = await tx.query<TaskOperation & { cursor: string }>({ name: 'next_task_operation', text })
    if (!rows[0]) return null
    const operation = { ...withTimes(rows[0]), cursor: rows[0].cursor }
    const page = await readPage(tx, operation, limit)
    const matching = page.flatMap(({ id, isMatch }) => (isMatch ? [id] : []))
    const { ended } = await endTasks(tx, operation.workspaceId, matching, operation.action)
    const isLast = page.length < limit
    const prefetched = isLast ? await endPrefetched(tx, operation) : { ended: 0, undecided: 0 }
    const isWaiting = prefetched.undecided > 0
    const cursor = isLast ? aboveAllIds : (page.at(-1)?.id ?? operation.cursor)
    const total = ended + prefetched.ended
    await advance(tx, operation, { cursor, ended: total, isDone: isLast && !isWaiting })
    return { ended: total, taskIds: matching, isWaiting }
  })
}

/** Deletes operations that ended more than 30 days ago, up to `limit`. Returns how many it deleted. */
export async function forgetOperations(
  pool: Pool,
  table: 'task_operations' | 'dead_letter_operations',
  limit: number,
): Promise<number> {
  const text = `
    DELETE FROM ${table} WHERE id IN (
      SELECT id FROM ${table} WHERE finished_at <= now() - interval '30 days'
      ORDER BY finished_at LIMIT $1 FOR UPDATE SKIP LOCKED
    )`
  const { rowCount } = await pool.query(text, [limit])
  return rowCount ?? 0
}

type Position = TaskOperation & { cursor: string }

// By the clock of PostgreSQL, it leaves out tasks that were created after the start.
async function readPage(tx: Transaction, { workspaceId, action, cursor, filter, createdAt }: Position, limit: number) {
  const text = `
    SELECT t.id, (t.created_at <= $5 AND ${matchesFilter(6)}) AS "isMatch" FROM tasks t
    WHERE t.workspace_id = $1 AND t.state = $2::task_state AND t.id < $3
    ORDER BY t.workspace_id, t.state, t.id DESC LIMIT $4`
  const values = [workspaceId, endedState[action], cursor, limit, createdAt, ...valuesOfFilter(filter)]
  const { rows } = await tx.query<{ id: string; isMatch: boolean }>({ name: 'read_tasks_to_end', text, values })
  return rows
}

// Tasks that were prefetched when the operation came by, and may wait again.
async function endPrefetched(tx: Transaction, { workspaceId, action, filter, createdAt }: Position) {
  const text = `
    SELECT t.id FROM tasks t
    WHERE t.workspace_id = $1 AND t.state = 'processing' AND t.prefetched AND t.created_at <= $2 AND ${matchesFilter(3)}`
  const { rows } = await tx.query<{ id: string }>(text, [workspaceId, createdAt, ...valuesOfFilter(filter)])
  return endTasks(
    tx,
    workspaceId,
    rows.map(row => row.id),
    action,
  )
}

async function advance(
  tx: Transaction,
  { id }: Position,
  step: { cursor: string; ended: number; isDone: boolean },
): Promise<void> {
  const text = `
    UPDATE task_operations
    SET cursor = $2, ended = ended + $3, total = greatest(total, ended + $3), updated_at = clock_timestamp(),
        finished_at = CASE WHEN $4 THEN clock_timestamp() END
    WHERE id = $1`
  await tx.query({ name: 'advance_task_operation', text, values: [id, step.cursor, step.ended, step.isDone] })
}

// The filter is JSON, which has no times.
function withTimes(row: TaskOperation): TaskOperation {
  const { executeFrom, executeTo } = row.filter
  const timeOf = (at: Date | null) => at && new Date(at)
  return { ...row, filter: { ...row.filter, executeFrom: timeOf(executeFrom), executeTo: timeOf(executeTo) } }
}
