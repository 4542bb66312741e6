import type { Db } from '../postgres/in-transaction.ts'
import { isWaiting } from '../tasks/task-row.ts'

/** The next time of each kind of work by the database's clock, in epoch milliseconds; Infinity for none. */
export type DueTimes = {
  /** The next task, due or not. */
  task: number
  /** The next task that is not due yet; without the first attempts of cron jobs in `laterTaskButCron`. */
  laterTask: number
  laterTaskButCron: number
  deadline: number
  /** The next occurrence of a cron job that is not a task yet. */
  occurrence: number
  message: number
  laterMessage: number
  /** When the rate limit of a queue allows the next attempt. */
  rateLimit: number
  hasBlocked: boolean
  hasOperations: boolean
}

/** Reads what waits in the database. The tasks of suspended workspaces and quarantined tasks are left out. */
export async function readDueTimes(db: Db): Promise<DueTimes> {
  const { rows } = await db.query<Record<string, number | boolean | null>>({
    name: 'due_times',
    text: dueTimesStatement(),
  })
  // The columns have whole milliseconds, and a calculation with fractions may not.
  const toTime = (value: number | boolean | null) => {
    if (typeof value === 'boolean') return value
    return value === null ? Number.POSITIVE_INFINITY : Math.round(value)
  }
  const times = Object.entries(rows[0] ?? {}).map(([name, value]) => [name, toTime(value)])
  return Object.fromEntries(times) as DueTimes // the columns of the statement
}

const ms = (time: string) => `extract(epoch FROM ${time})::float8 * 1000`

// Blocked tasks are due in 2,000 years.
const nextTask = (condition: string) => `(
    SELECT ${ms('due_at')} FROM tasks
    WHERE ${isWaiting} AND due_at < now() + interval '1000 years' AND ${condition}
      AND workspace_id <> ALL (ARRAY (SELECT s.id FROM suspended_workspaces s))
    ORDER BY due_at, id LIMIT 1)`

const nextMessage = (condition: string) =>
  `(SELECT min(${ms('due_at')}) FROM outbox WHERE finished_at IS NULL AND expires_at > now() AND ${condition})`

function dueTimesStatement(): string {
  return `
  SELECT ${nextTask('true')} AS "task",
    ${nextTask('due_at > now()')} AS "laterTask",
    ${nextTask(`due_at > now() AND NOT (source = 'cron' AND state = 'pending')`)} AS "laterTaskButCron",
    (SELECT min(${ms('expires_at')}) FROM tasks WHERE expires_at IS NOT NULL AND state IN ('pending', 'retrying'))
      AS "deadline",
    (SELECT ${ms('next_run_at')} FROM cron_jobs
     WHERE next_run_at IS NOT NULL AND unreadable_since IS NULL
       AND workspace_id <> ALL (ARRAY (SELECT s.id FROM suspended_workspaces s))
     ORDER BY next_run_at LIMIT 1) AS "occurrence",
    ${nextMessage('true')} AS "message",
    ${nextMessage('due_at > now()')} AS "laterMessage",
    (SELECT min(${ms('advance_at')}) FROM queues WHERE advance_at IS NOT NULL) AS "rateLimit",
    EXISTS (SELECT FROM tasks WHERE ${isWaiting} AND due_at >= now() + interval '1000 years') AS "hasBlocked",
    EXISTS (SELECT FROM task_operations WHERE finished_at IS NULL)
      OR EXISTS (SELECT FROM dead_letter_operations WHERE finished_at IS NULL) AS "hasOperations"`
}
