import type { Db } from '../postgres/in-transaction.ts'
import type { WaitingRow } from '../tasks/due-work.ts'
import { isWaiting, originOf } from '../tasks/task-row.ts'

/** The next time of each kind of work by the database's clock, in epoch milliseconds, or Infinity. */
export type DueTimes = {
  /** The first tasks that are due, or due next, in the order of their times. */
  tasks: WaitingRow[]
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
  const { rows } = await db.query<Found>({ name: 'due_times', text: dueTimesStatement() })
  const { tasks, ...times } = rows[0] as Found // a SELECT without FROM returns a row
  return { ...times, tasks: (tasks ?? []).map(task => ({ ...task, dueAt: new Date(task.dueAt) })) }
}

type Found = Omit<DueTimes, 'tasks'> & { tasks: Array<Omit<WaitingRow, 'dueAt'> & { dueAt: number }> | null }

const maxTasks = 1_000

// The columns have whole milliseconds, and a calculation with fractions may not.
const ms = (time: string) => `round(extract(epoch FROM ${time}) * 1000)::float8`
const orNever = (time: string) => `coalesce(${time}, 'Infinity')`

const nextTasks = (columns: string, condition: string, limit: number) => `(
    SELECT ${columns} FROM tasks
    WHERE ${isWaiting} AND ${condition}
      AND workspace_id <> ALL (ARRAY (SELECT s.id FROM suspended_workspaces s))
    ORDER BY due_at, id LIMIT ${limit})`
const nextTask = (condition: string) => orNever(nextTasks(ms('due_at'), condition, 1))

const nextMessage = (condition: string) =>
  orNever(`(SELECT min(${ms('due_at')}) FROM outbox WHERE finished_at IS NULL AND expires_at > now() AND ${condition})`)

function dueTimesStatement(): string {
  return `
  SELECT
    (SELECT json_agg(json_build_object('id', t.id, 'workspaceId', t.workspace_id, 'dueAt', ${ms('t.due_at')},
        'origin', ${originOf('r.url')}) ORDER BY t.due_at, t.id)
     FROM ${nextTasks('id, workspace_id, due_at', `due_at <= coalesce(${nextTasks('due_at', 'due_at > now()', 1)}, now())`, maxTasks)} t
     JOIN task_requests r ON r.task_id = t.id) AS "tasks",
    ${nextTask('due_at > now()')} AS "laterTask",
    ${nextTask(`due_at > now() AND NOT (source = 'cron' AND state = 'pending')`)} AS "laterTaskButCron",
    ${orNever(`(SELECT min(${ms('expires_at')}) FROM tasks WHERE expires_at IS NOT NULL AND state IN ('pending', 'retrying')
      AND waits_for <> 2)`)} AS "deadline",
    ${orNever(`(SELECT ${ms('next_run_at')} FROM cron_jobs
     WHERE next_run_at IS NOT NULL AND unreadable_since IS NULL
       AND workspace_id <> ALL (ARRAY (SELECT s.id FROM suspended_workspaces s))
     ORDER BY next_run_at LIMIT 1)`)} AS "occurrence",
    ${nextMessage('true')} AS "message",
    ${nextMessage('due_at > now()')} AS "laterMessage",
    ${orNever(`(SELECT min(${ms('advance_at')}) FROM queues WHERE advance_at IS NOT NULL)`)} AS "rateLimit",
    EXISTS (SELECT FROM tasks t WHERE queue_id IS NOT NULL AND finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1) AS "hasBlocked",
    EXISTS (SELECT FROM bulk_operations WHERE finished_at IS NULL) AS "hasOperations"`
}
