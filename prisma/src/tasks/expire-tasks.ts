import type { StateReason } from '@belfry/domain/task-state'
import { type Db, inTransaction } from '../postgres/in-transaction.ts'
import { type Ended, endWithCallbacks } from './drop-callbacks.ts'
import { countedFailures } from './task-row.ts'

export type ExpiredTask = Ended<{ taskId: string; workspaceId: string; attempts: number }>

export const isExpired = `(t.expires_at IS NOT NULL AND t.expires_at <= clock_timestamp())`

export const expiredReason = 'expired' satisfies StateReason

/**
 * Ends waiting tasks whose deadline has passed: they are dead. Skips rows that another caller locks, and held tasks:
 * they may have been delivered before a restore.
 * @param which - Up to `limit` tasks with the earliest deadlines, or the expired ones among the given tasks.
 */
export function expireTasks(db: Db, which: { limit: number } | { taskIds: readonly string[] }): Promise<ExpiredTask[]> {
  const query =
    'limit' in which
      ? { name: 'lock_overdue_tasks', text: dueTasks, values: [which.limit] }
      : { name: 'lock_expired_tasks', text: givenTasks, values: [which.taskIds] }
  return inTransaction(db, async tx => {
    const { rows } = await tx.query<{ id: string }>(query)
    if (rows.length === 0) return []
    const locked = rows.map(({ id }) => ({ taskId: id, runId: null }))
    return endWithCallbacks(tx, locked, async some => {
      const values = [some.map(({ taskId }) => taskId)]
      return (await tx.query<ExpiredTask>({ name: 'expire_tasks', text: statement, values })).rows
    })
  })
}

/** The waiting tasks whose deadline has passed. `now()` is at most the clock, and the index can use it. */
export const overdueTasks = `
    SELECT id FROM tasks WHERE expires_at IS NOT NULL AND expires_at <= now() AND state IN ('pending', 'retrying')
      AND waits_for <> 2`

const dueTasks = `${overdueTasks}
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED`

const givenTasks = `
    SELECT t.id FROM tasks t WHERE t.id = ANY ($1::uuid[]) AND ${isExpired}
      AND t.state NOT IN ('processing', 'success', 'dead', 'cancelled') AND t.waits_for <> 2
    FOR UPDATE SKIP LOCKED`

// A task that never started was not an execution, so it is not a failed one.
const statement = `
  WITH expired AS (
    UPDATE tasks
    SET state = 'dead', state_reason = '${expiredReason}', quarantined = false, finished_at = now(), updated_at = now()
    WHERE id = ANY ($1::uuid[])
    RETURNING id, workspace_id, attempts
  ),
  ${countedFailures('expired WHERE attempts > 0')}
  SELECT id AS "taskId", workspace_id AS "workspaceId", attempts FROM expired`
