import type { StateReason } from '@belfry/domain/task-state'
import type { Db } from '../postgres/in-transaction.ts'

export type CancellingLimit = Extract<StateReason, 'monthly_execution_limit' | 'storage_quota'>

/** Counts the tasks that were cancelled for a limit this month, up to `max`, and since when. */
export async function countCancelled(db: Db, workspaceId: string, limit: CancellingLimit, max: number) {
  const { rows } = await db.query<{ tasks: number; since: Date | null }>(cancelledStatement(limit), [workspaceId, max])
  return rows[0] ?? { tasks: 0, since: null }
}

// Names the limit, because only then a plan for any workspace may use the index of these two.
export const cancelledStatement = (limit: CancellingLimit) => `
  SELECT count(*)::int AS tasks, min(finished_at) AS since FROM (
    SELECT finished_at FROM tasks
    WHERE workspace_id = $1 AND state = 'cancelled' AND state_reason = '${limit}' AND finished_at >= utc_month(now())
    ORDER BY finished_at LIMIT $2
  ) counted`
