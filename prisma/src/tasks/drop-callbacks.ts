import { isStatementTimeout, isTransientDatabaseError } from '../postgres/database-errors.ts'
import type { Db, Transaction } from '../postgres/in-transaction.ts'

/** `runId`: the run that the task must still have; null for a task that the transaction has locked. */
type EndingTask = { taskId: string; runId: string | null }

/**
 * Drops the callbacks of a task, now and for later attempts: the last resort when PostgreSQL cannot store them, because the
 * end of an attempt or a task is stored in the same statement.
 * @returns False when the task has no callbacks, or another run.
 */
export async function dropCallbacks(db: Db, { taskId, runId }: EndingTask): Promise<boolean> {
  const text = `
    UPDATE tasks SET has_callbacks = false WHERE id = $1 AND ($2::uuid IS NULL OR run_id = $2) AND has_callbacks`
  return (await db.query({ name: 'drop_callbacks', text, values: [taskId, runId] })).rowCount === 1
}

/** `refusal`: why PostgreSQL could not store the callbacks of a task, so they are dropped; null if it stored them. */
export type Ended<Row> = Row & { refusal: string | null }

/**
 * Ends tasks with a statement that stores their callbacks. When PostgreSQL refuses one of them, the others end
 * nevertheless, and that one without its callbacks. When all of them take longer than a statement may, they end in parts.
 * @param end - Sends the statement for some of the tasks.
 */
export async function endWithCallbacks<Task extends EndingTask, Row extends object>(
  tx: Transaction,
  tasks: readonly Task[],
  end: (some: readonly Task[]) => Promise<Row[]>,
  refusal: string | null = null,
): Promise<Ended<Row>[]> {
  await tx.query('SAVEPOINT ending')
  try {
    const rows = await end(tasks)
    await tx.query('RELEASE ending')
    return rows.map(row => Object.assign(row, { refusal }))
  } catch (error) {
    const isTooLarge = tasks.length > 1 && isStatementTimeout(error)
    if ((isTransientDatabaseError(error) && !isTooLarge) || !(error instanceof Error)) throw error
    await tx.query('ROLLBACK TO ending; RELEASE ending')
    const [first] = tasks
    if (first && tasks.length === 1) {
      if (await dropCallbacks(tx, first)) return endWithCallbacks(tx, tasks, end, error.message)
      throw error
    }
    const half = Math.ceil(tasks.length / 2)
    const ended = await endWithCallbacks(tx, tasks.slice(0, half), end)
    return [...ended, ...(await endWithCallbacks(tx, tasks.slice(half), end))]
  }
}
