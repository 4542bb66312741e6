import { inIndexOrder, queryInIndexOrder } from '../postgres/in-index-order.ts'
import { inTransaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { isWaiting } from './task-row.ts'

/**
 * SQL: the time before which no waiting task is due. Each scan of due work starts here, so it skips the index entries of
 * finished tasks, which no vacuum can remove while an old snapshot is open.
 */
export const waitingFloor = `coalesce((SELECT f.due_at FROM waiting_floor f), '-infinity')`

/** SQL: the time before which no lease of a processing task ends. */
export const leaseFloor = `coalesce((SELECT f.lease_until FROM waiting_floor f), '-infinity')`

// The floor stays this far behind the clock, because an open transaction may hold earlier tasks.
const margin = `interval '1 minute'`
// Half of the margin; a transaction may take the other half.
const recent = `interval '30 seconds'`

/**
 * Returns the CTE that lowers the floor to tasks which wait again. Each statement needs it that may make a task due in the
 * past. It locks the floor's row only for tasks that are overdue for 30 seconds or more, because the floor never comes
 * closer to the clock.
 * @param source - A CTE or a table expression of the tasks that wait again, with their `due_at`.
 */
export function loweredFloor(source: string): string {
  return `lowered AS (
      UPDATE waiting_floor SET due_at = least(waiting_floor.due_at, early.due_at)
      FROM (SELECT min(due_at) AS due_at FROM ${source}) early
      WHERE early.due_at < now() - ${recent}
    )`
}

/** The same for tasks that may still have a lease: rows with `due_at` and `lease_until`. */
export function loweredFloors(source: string): string {
  return `lowered AS (
      UPDATE waiting_floor f SET due_at = least(f.due_at, early.due_at), lease_until = least(f.lease_until, early.lease_until)
      FROM (SELECT min(due_at) AS due_at, min(lease_until) AS lease_until FROM ${source}) early
    )`
}

/**
 * Raises the floor to the first waiting task, or to a minute ago. It reads from the old floor, so each call passes only the
 * tasks that have finished since the last one. When the clock steps back, so does the floor.
 */
export async function raiseWaitingFloor(pool: Pool): Promise<void> {
  await inTransaction(pool, async tx => {
    // A separate statement takes the lock. Statements that lower the floor have then committed, or wait for this one.
    await tx.query(inIndexOrder)
    await tx.query('SELECT FROM waiting_floor FOR UPDATE')
    await tx.query(raiseStatement)
  })
}

/**
 * Lowers the floor to the first waiting task before it: the safety net for manual changes, which leave the floor as it is.
 * @returns When the first such task was due; null when there is none.
 */
export async function mendWaitingFloor(pool: Pool): Promise<Date | null> {
  const text = `
    WITH first AS (
      SELECT due_at FROM tasks WHERE ${isWaiting} AND due_at < ${waitingFloor} ORDER BY due_at, id LIMIT 1
    ),
    first_lease AS (
      SELECT lease_until FROM tasks WHERE state = 'processing' AND lease_until < ${leaseFloor}
      ORDER BY lease_until LIMIT 1
    ),
    ${loweredFloor('first')},
    lowered_lease AS (
      UPDATE waiting_floor SET lease_until = first_lease.lease_until FROM first_lease WHERE NOT EXISTS (SELECT FROM first)
    )
    SELECT due_at AS "dueAt" FROM first`
  const rows = await queryInIndexOrder<{ dueAt: Date }>(pool, { name: 'mend_waiting_floor', text, values: [] })
  return rows[0]?.dueAt ?? null
}

const raiseStatement = `
  WITH next AS (
    SELECT
      least(now() - ${margin}, (
        SELECT t.due_at FROM tasks t WHERE ${isWaiting} AND t.due_at >= ${waitingFloor} ORDER BY t.due_at, t.id LIMIT 1
      )) AS due_at,
      least(now() - ${margin}, (
        SELECT t.lease_until FROM tasks t WHERE t.state = 'processing' AND t.lease_until >= ${leaseFloor}
        ORDER BY t.lease_until LIMIT 1
      )) AS lease_until
  )
  UPDATE waiting_floor f SET due_at = next.due_at, lease_until = next.lease_until FROM next
  WHERE (f.due_at, f.lease_until) IS DISTINCT FROM (next.due_at, next.lease_until)`
