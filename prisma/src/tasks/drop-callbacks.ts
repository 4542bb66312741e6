import type { Db } from '../postgres/in-transaction.ts'

/**
 * Drops the callbacks of a task, now and for later attempts: the last resort when PostgreSQL cannot store them, because the
 * outcome of an attempt is stored in the same statement.
 * @returns False when the task has no callbacks, or another run.
 */
export async function dropCallbacks(db: Db, { taskId, runId }: { taskId: string; runId: string }): Promise<boolean> {
  const text = 'UPDATE tasks SET has_callbacks = false WHERE id = $1 AND run_id = $2 AND has_callbacks'
  return (await db.query({ name: 'drop_callbacks', text, values: [taskId, runId] })).rowCount === 1
}
