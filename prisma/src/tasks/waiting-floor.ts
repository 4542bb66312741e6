import { inIndexOrder, queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import { isInFlight, waitsForTime } from './task-row.ts'

/**
 * SQL: the time before which no waiting task is due. Each scan of due work starts here, so it skips the index entries
 * of finished tasks. Vacuum cannot remove these while an old snapshot is open.
 */
export const waitingFloor = `coalesce((SELECT f.due_at FROM waiting_floor f), '-infinity')`

/** SQL: the time before which no lease of a processing task ends. */
export const leaseFloor = `coalesce((SELECT f.lease_until FROM waiting_floor f), '-infinity')`

// The floor stays this far behind the clock, because an open transaction may hold earlier tasks. The trigger
// `lower_waiting_floor` lowers it to tasks that are older than half of this.
const margin = `interval '1 minute'`

/**
 * Raises the floor to the first waiting task, or to a minute ago. It reads from the old floor, so each call passes only the
 * tasks that have finished since the last one. When the clock steps back, so does the floor.
 */
export async function raiseWaitingFloor(pool: Pool): Promise<void> {
  await pool.query(raiseStatements)
}

/**
 * Lowers the floor to the first waiting task before it: the safety net for a transaction that stored a task, and then took
 * longer than the margin.
 * @returns When the first such task was due; null if no task is due before the floor.
 */
export async function mendWaitingFloor(pool: Pool): Promise<Date | null> {
  const text = `
    WITH first AS (
      SELECT due_at FROM tasks WHERE ${waitsForTime} AND due_at < ${waitingFloor} ORDER BY due_at, id LIMIT 1
    ),
    first_lease AS (
      SELECT lease_until FROM tasks WHERE ${isInFlight} AND lease_until < ${leaseFloor} ORDER BY lease_until LIMIT 1
    ),
    lowered AS (
      UPDATE waiting_floor f SET due_at = least(f.due_at, first.due_at), lease_until = least(f.lease_until, first_lease.lease_until)
      FROM first FULL JOIN first_lease ON true
    )
    SELECT due_at AS "dueAt" FROM first`
  const rows = await queryInIndexOrder<{ dueAt: Date }>(pool, { name: 'mend_waiting_floor', text, values: [] })
  return rows[0]?.dueAt ?? null
}

// One message is one transaction. A separate statement takes the lock: transactions that made a task due in the past have
// then committed, or wait.
const raiseStatements = `
  ${inIndexOrder};
  SELECT FROM waiting_floor FOR UPDATE;
  WITH next AS (
    SELECT
      least(now() - ${margin}, (
        SELECT t.due_at FROM tasks t WHERE ${waitsForTime} AND t.due_at >= ${waitingFloor} ORDER BY t.due_at, t.id LIMIT 1
      )) AS due_at,
      least(now() - ${margin}, (
        SELECT t.lease_until FROM tasks t WHERE ${isInFlight} AND t.lease_until >= ${leaseFloor}
        ORDER BY t.lease_until LIMIT 1
      )) AS lease_until
  )
  UPDATE waiting_floor f SET due_at = next.due_at, lease_until = next.lease_until FROM next
  WHERE (f.due_at, f.lease_until) IS DISTINCT FROM (next.due_at, next.lease_until)`
