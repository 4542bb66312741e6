import type { Db } from '../postgres/in-transaction.ts'
import { type InputColumn, inputRows, inputValues } from '../postgres/statement-input.ts'
import { returnedStarts } from '../queues/queued-claim.ts'
import { refundedExecutions } from '../usage/count-executions.ts'

/** A claim whose attempt never started. `delayMs` postpones the task. Default: it keeps its due time. */
export type UnstartedClaim = { taskId: string; workspaceId: string; runId: string; delayMs?: number }

/**
 * Undoes claims whose attempts never started: each task is `pending` again, or `retrying` after an earlier attempt. The
 * attempt is not counted or logged, its execution is refunded, and its queue gets the start back. Fenced by the run's id:
 * null for a claim that no longer stands.
 */
export async function undoClaims(db: Db, claims: readonly UnstartedClaim[]) {
  const { rows } = await db.query<{ id: string; dueAt: Date; now: Date }>({
    name: 'undo_claims',
    text: undoStatement,
    values: inputValues(undoInput, claims),
  })
  const waiting = new Map(rows.map(({ id, dueAt, now }) => [id, { dueAt, now }]))
  return claims.map(({ taskId }) => waiting.get(taskId) ?? null)
}

export const undoInput: ReadonlyArray<InputColumn<UnstartedClaim>> = [
  ['id', 'uuid', ({ taskId }) => taskId],
  ['workspace_id', 'uuid', ({ workspaceId }) => workspaceId],
  ['run_id', 'uuid', ({ runId }) => runId],
  ['delay_ms', 'float8', ({ delayMs }) => delayMs],
]

// The state and the workspace are hidden from the planner, for the reason at `outcomeColumns` in record-attempts.ts. `o` is
// the row before the update: the refund goes to the dispatcher that the update removes.
export const undoStatement = `
  WITH input AS (${inputRows(undoInput)}),
  undone AS (
    UPDATE tasks t
    SET state = CASE WHEN t.attempts > 1 THEN 'retrying' ELSE 'pending' END::task_state, attempts = t.attempts - 1,
        run_id = NULL, lease_until = NULL, dispatcher_id = NULL, prefetched = false, updated_at = now(),
        due_at = coalesce(clock_timestamp() + i.delay_ms * interval '1 millisecond', t.due_at)
    FROM input i JOIN tasks o ON o.id = i.id
    WHERE t.id = i.id AND t.workspace_id IS NOT DISTINCT FROM i.workspace_id AND t.run_id = i.run_id
      AND t.state IS NOT DISTINCT FROM (SELECT 'processing'::task_state)
    RETURNING t.id, t.workspace_id, t.attempts, t.due_at, t.queue_id, i.run_id, o.dispatcher_id
  ),
  ${returnedStarts},
  ${refundedExecutions}
  SELECT id, due_at AS "dueAt", clock_timestamp() AS now FROM undone`
