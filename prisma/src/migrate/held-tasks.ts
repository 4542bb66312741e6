import { expandAll } from '../cron-jobs/expand-cron-jobs.ts'
import { type Db, inTransaction, readClock, type Transaction } from '../postgres/in-transaction.ts'
import { isHeld } from '../tasks/task-row.ts'

// Cron jobs this far in the future never come due, and the change is exactly reversible.
const away = `interval '10000 years'`
export const isHeldCronJob = `next_run_at > now() + interval '5000 years'`

/**
 * Holds all tasks that were due, expired or in flight when a restored backup was taken, and the occurrences of cron
 * jobs that have come due since, and open operations. Some of these may have been delivered, and only the operator can
 * find out which. Run it before any service uses the restored database. When it rejects, nothing is held.
 * @param until - Also holds tasks due before this time. Default: only tasks due or expired by now.
 * @returns How many tasks and operations are held, and the cron jobs that are held as a whole: their rules are unreadable.
 */
export async function holdOverdueTasks(db: Db, until: Date | null = null) {
  return inTransaction(db, async tx => {
    const now = await readClock(tx)
    const dueBy = until && until > now ? until : now
    const cronJobs = await expandAll(tx, dueBy.getTime() - now.getTime())
    const text = `UPDATE cron_jobs SET next_run_at = next_run_at + ${away} WHERE id = ANY ($1)`
    if (cronJobs.length > 0) await tx.query(text, [cronJobs])
    return { tasks: await hold(tx, dueBy), cronJobs, operations: await holdOperations(tx) }
  })
}

async function hold(tx: Transaction, dueBy: Date): Promise<number> {
  const text = `
    UPDATE tasks SET waits_for = 2, updated_at = now()
    WHERE waits_for <> 2
      AND (state = 'processing' OR state IN ('pending', 'retrying') AND (due_at <= $1 OR expires_at <= $1))`
  return (await tx.query(text, [dueBy])).rowCount ?? 0
}

// They may have ended after the backup.
async function holdOperations(tx: Transaction): Promise<number> {
  const text = 'UPDATE bulk_operations SET held_at = now() WHERE finished_at IS NULL AND held_at IS NULL'
  return (await tx.query(text)).rowCount ?? 0
}

/**
 * Releases held tasks, cron jobs and operations; overdue tasks start at once. The operator first cancels those that
 * must not be sent again. Returns the number of tasks.
 * @param limit - The maximum number of tasks, those due first come first. Default: all.
 */
export async function releaseHeldTasks(db: Db, workspaceId: string | null = null, limit: number | null = null) {
  return inTransaction(db, async tx => {
    await tx.query(
      `UPDATE cron_jobs SET next_run_at = next_run_at - ${away}
       WHERE ${isHeldCronJob} AND ($1::uuid IS NULL OR workspace_id = $1)`,
      [workspaceId],
    )
    await tx.query(
      'UPDATE bulk_operations SET held_at = NULL WHERE held_at IS NOT NULL AND ($1::uuid IS NULL OR workspace_id = $1)',
      [workspaceId],
    )
    // A task gets back the time until its deadline that it had when it was due.
    const text = `
      WITH held AS MATERIALIZED (
        SELECT id FROM tasks WHERE ${isHeld} AND ($1::uuid IS NULL OR workspace_id = $1) ORDER BY due_at LIMIT $2 FOR UPDATE
      )
      UPDATE tasks t SET waits_for = 0, expires_at = expires_at + greatest(now() - due_at, interval '0'), updated_at = now()
      FROM held WHERE t.id = held.id`
    return (await tx.query({ name: 'release_held_tasks', text, values: [workspaceId, limit] })).rowCount ?? 0
  })
}
